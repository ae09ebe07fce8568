// Installed by `memoranda setup opencode --hooks`. `memoranda setup opencode --remove` deletes it.
// memoranda-program: @PROGRAM@
import { spawn } from "node:child_process";

const program = @PROGRAM@;
const flags = @FLAGS@;

/** Runs a hook and returns its text for the model. A hook that fails is silent. */
function hook(event, input) {
  return new Promise((resolve) => {
    const args = ["hook", event, "--client", "opencode", ...flags];
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
    let output = "";
    child.once("error", () => resolve(""));
    child.stdin.once("error", () => resolve(""));
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.once("close", () => {
      try {
        resolve(JSON.parse(output).hookSpecificOutput.additionalContext);
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(input));
  });
}

export const Memoranda = async ({ client, directory }) => {
  const briefs = new Map();

  /** Returns the end of a conversation as the hook reads it. */
  async function ending(id) {
    const input = { session_id: id, cwd: directory };
    try {
      const { data } = await client.session.messages({ path: { id } });
      for (const { info, parts } of data ?? []) {
        const said = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text);
        const key = info.role === "user" ? "prompt" : "last_assistant_message";
        if (said.length > 0) input[key] = said.join("\n");
      }
    } catch {
      // Without the messages there is nothing to keep.
    }
    return input;
  }

  return {
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return;
      // One brief per conversation: the same bytes keep the provider's cache valid.
      if (!briefs.has(sessionID)) {
        briefs.set(sessionID, hook("session-start", { session_id: sessionID, cwd: directory, source: "startup" }));
      }
      const brief = await briefs.get(sessionID);
      if (brief) output.system.push(brief);
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await hook("pre-compact", await ending(sessionID));
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await hook("stop", await ending(event.properties.sessionID));
    },
  };
};
