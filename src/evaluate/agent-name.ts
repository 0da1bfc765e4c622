/** What the name of an agent must be. */
export const AGENT_NAME_RULE =
  'a word of letters, digits, ., _ and - that begins with a letter and has a small letter, such as rules or gpt-4.1';

/**
 * Returns whether a text can be the name of an agent. A name has a small letter, so that it does not look like a variable
 * of the shell: in `FOO=bar node agent.js`, no agent has the name FOO.
 */
export function isAgentName(text: string): boolean {
  return /^[A-Za-z][\w.-]*$/.test(text) && /[a-z]/.test(text);
}

/** Splits `name=value` of a flag that gives an agent. The name is undefined if the text does not begin with one. */
export function splitAgentName(text: string): { readonly name: string | undefined; readonly value: string } {
  const end = text.indexOf('=');
  const name = text.slice(0, Math.max(0, end));
  return isAgentName(name) ? { name, value: text.slice(end + 1) } : { name: undefined, value: text };
}
