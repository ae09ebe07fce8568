// Bundles the plugin into dist/: copy that folder to VAULT/.obsidian/plugins/memoranda.
// The logic is also bundled without Obsidian, for the tests.
import { copyFileSync, mkdirSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, platform: "node", target: "es2022", logLevel: "warning" };
mkdirSync("dist/test", { recursive: true });
await build({
  ...shared,
  entryPoints: ["src/main.ts"],
  outfile: "dist/main.js",
  format: "cjs",
  external: ["obsidian", "electron"],
});
await build({ ...shared, entryPoints: ["src/notes.ts"], outfile: "dist/test/notes.mjs", format: "esm" });
copyFileSync("manifest.json", "dist/manifest.json");
copyFileSync("styles.css", "dist/styles.css");
