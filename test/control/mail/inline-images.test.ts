import { expect, test } from 'vitest';
import { inlineImages } from '../../../src/control/mail/inline-images.ts';

/** A mail with one part of these header lines. */
function mailWith(head: string, content = 'AAEC\r\nAwQ='): Uint8Array {
  return new TextEncoder().encode(
    `Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\n${head}\r\n\r\n${content}\r\n--b--`,
  );
}

const IMAGE = 'Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <a b@x>';
const DATA = 'data:image/png;base64,AAECAwQ=';

test.for([
  ['the src of an image', '<img src="cid:a%20b@x">', `<img src="${DATA}">`],
  ['a src without quotes', '<img src=CID:a%20b%40x>', `<img src=${DATA}>`],
  ['a style', '<p style="background: url( cid:a%20b@x )">', `<p style="background: url( ${DATA} )">`],
  ['another id', '<img src="cid:other">', '<img src="cid:other">'],
  ['a text', 'See cid:a%20b@x', 'See cid:a%20b@x'],
])('the image of %s', ([, html = '', expected]) => {
  expect(inlineImages(html, mailWith(IMAGE))).toBe(expected);
});

test.for([
  ['another media type', IMAGE.replace('image/png', 'text/html')],
  ['another encoding', IMAGE.replace('base64', '8bit')],
  ['no Content-ID', IMAGE.replace('Content-ID', 'X-Content-ID')],
])('a part with %s stays a file', ([, head = '']) => {
  expect(inlineImages('<img src="cid:a%20b@x">', mailWith(head))).toBe('<img src="cid:a%20b@x">');
});

test('an HTML that names a large image many times does not become too large', () => {
  const html = '<img src="cid:a%20b@x">'.repeat(20_000);
  const page = inlineImages(html, mailWith(IMAGE, 'A'.repeat(9_000_000)));
  expect(page.length).toBeLessThan(33 * 1024 * 1024);
  expect(page.startsWith('<img src="data:')).toBe(true);
});
