// How the page asks the inspector.

export class Problem extends Error {}

async function answered(response) {
  if (response.status === 401) throw new Problem("The inspector was started anew: open the address that it printed.");
  let body = null;
  try { body = await response.json(); } catch { /* it isn't JSON, so it isn't from us */ }
  if (body === null) throw new Problem(`The inspector answers ${response.status}.`);
  if (!response.ok) throw new Problem(body.problem ?? `The inspector answers ${response.status}.`);
  return body;
}

async function send(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new Problem("The inspector has ended.");
  }
}

export async function get(path, query) {
  const words = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  return answered(await send(`/api/${path}${words}`));
}

function posted(body) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

export async function post(path, body) {
  return answered(await send(`/api/${path}`, posted(body)));
}

// Runs a call; `tell` gets each event before the last one, which is returned.
export async function run(body, tell, signal) {
  const response = await send("/api/run", { ...posted(body), signal });
  if (!response.ok) return answered(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Problem("The inspector ended before the call did.");
    text += value;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.done) return event.done;
      tell(event);
    }
  }
}
