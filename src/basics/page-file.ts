import { PAGE_MARK } from './written-by.ts';

/** A page as the parts of one HTML file that needs no other. */
export interface PageParts {
  /** Its program, for a `script` element of the type `module`. */
  readonly script: string;
  /** Its styles, each for a `style` element. The first has the font itself. */
  readonly styles: readonly string[];
  /** The URL of its icon, which has the icon itself. */
  readonly icon: string;
}

/** Reads the parts of the inspector. `read` returns one of its built files, as text or in base64. */
export async function readPageParts(
  read: (name: string, encoding: 'utf8' | 'base64') => Promise<string>,
): Promise<PageParts> {
  const [code, style, fontStyle, font, icon] = await Promise.all([
    read('inspector.js', 'utf8'),
    read('inspector.css', 'utf8'),
    read('font.css', 'utf8'),
    read('inter.woff2', 'base64'),
    read('icon.svg', 'base64'),
  ]);
  // In the strings of a program, `\/` and `\x3c` mean the same characters, but do not end its element.
  const script = code.replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3c!--');
  const fontFace = fontStyle.replace('/__mock/inspector/inter.woff2', `data:font/woff2;base64,${font}`);
  return { script, styles: [fontFace, style], icon: `data:image/svg+xml;base64,${icon}` };
}

/** Writes a page as an HTML file. `elements` say where it finds a trace, and `sources` what it may request. */
export async function writePageFile(parts: PageParts, elements: string, sources = "'none'"): Promise<string> {
  return `${await writePageHead('Inspector', parts, sources)}
<body>
<noscript>The Inspector needs JavaScript. Without it, read the trace with the command show.</noscript>
${elements}<script type="module">${parts.script}</script>
</body>
</html>
`;
}

/**
 * Writes an HTML file that needs no other, up to the end of its `head`. Its policy lets it run only this program, have
 * only these styles, and request only from `sources`.
 */
export async function writePageHead(
  title: string,
  { script, styles, icon }: PageParts,
  sources = "'none'",
): Promise<string> {
  const [scriptHash, ...styleHashes] = await Promise.all([script, ...styles].map(hashOf));
  const policy =
    `default-src 'none'; script-src ${scriptHash}; style-src ${styleHashes.join(' ')}; ` +
    `img-src data:; font-src data:; connect-src ${sources}; ` +
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${PAGE_MARK}
<title>${title}</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
${styles.map((style) => `<style>${style}</style>`).join('\n')}
</head>`;
}

/** Writes the element that carries a trace in a page. `packed` is base64 of gzip, and `id` the id of the element. */
export function writeTraceElement(id: string, packed: string): string {
  return `<script type="application/gzip" id="${id}">${packed}</script>\n`;
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}
