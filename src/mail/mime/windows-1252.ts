/** What the bytes 0x80 to 0x9F are in windows-1252; five of them are nothing. */
const CHARACTERS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ';

/**
 * Corrects a text that the decoder of the runtime may have read as windows-1252. Some versions of Node 20 and 22 read it
 * as ISO-8859-1, in which typographic quotes and the euro sign are control characters. Correct decoders change nothing.
 */
export function repairWindows1252(text: string): string {
  if (new TextDecoder('windows-1252').decode(Uint8Array.of(0x80)) === '€') return text;
  return text.replace(/[\x80-\x9F]/g, (character) => CHARACTERS.charAt(character.charCodeAt(0) - 0x80));
}
