import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// Files with stable names: the server embeds them with `include_bytes!` and CI compares the bytes.
export default defineConfig({
  plugins: [svelte()],
  base: './',
  build: {
    outDir: '../crates/memoranda-server/src/page/built',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: true,
    assetsInlineLimit: 0,
    sourcemap: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'page.js',
        chunkFileNames: 'places.js',
        // Styles of the first screen, and those of the other places.
        assetFileNames: (asset) => (asset.names[0] === 'places.css' ? 'places.css' : 'page[extname]'),
      },
    },
  },
});
