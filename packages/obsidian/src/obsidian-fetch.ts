import { requestUrl } from "obsidian";

/**
 * `fetch` over Obsidian's own network function. Requests of a window carry the origin `app://obsidian.md`, which
 * the server refuses like every foreign page; this function sends none.
 */
export const obsidianFetch: typeof fetch = async (input, init = {}) => {
  const headers: Record<string, string> = {};
  new Headers(init.headers).forEach((value, name) => {
    headers[name] = value;
  });
  const answer = await requestUrl({
    url: String(input),
    method: init.method ?? "GET",
    headers,
    ...(typeof init.body === "string" ? { body: init.body } : {}),
    throw: false,
  });
  return new Response(answer.text, { status: answer.status });
};
