import { readPageParts, writePageFile, writeTraceElement } from '../../../basics/page-file.ts';
import { toBase64 } from '../../parts.tsx';

/**
 * Writes this page and a trace as one HTML file, which needs no server and no other file.
 *
 * @throws {Error} with a sentence for a person if the browser does not allow it.
 */
export async function writeOwnPage(trace: Blob): Promise<Blob> {
  // Browsers have this only on pages of this machine or over HTTPS.
  if (!globalThis.crypto.subtle) {
    throw new Error(
      'The browser allows this only at an address such as 127.0.0.1, or over HTTPS. Save the trace instead.',
    );
  }
  const parts = await readPageParts(async (name, encoding) => {
    const response = await fetch(`/__mock/inspector/${name}`);
    if (!response.ok) throw new Error(`The file ${name} of this page could not be loaded.`);
    return encoding === 'utf8' ? response.text() : toBase64(await response.blob());
  });
  const packed = await new Response(trace.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  return new Blob([await writePageFile(parts, writeTraceElement('trace', await toBase64(packed)))]);
}
