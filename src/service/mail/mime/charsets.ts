// Charsets that mail has and `TextDecoder` does not know, because no browser shows pages in them.

// cspell:disable
/** The characters of the bytes 0x80 to 0xFF in each code page of DOS that mail has and `TextDecoder` lacks. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0',
  852: 'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\xad˝˛ˇ˘§÷¸°¨˙űŘř■\xa0',
  858: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈ€ÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\xad±‗¾¶§÷¸°¨·¹³²■\xa0',
  860: 'ÇüéâãàÁçêÊèÍÔìÃÂÉÀÈôõòÚùÌÕÜ¢£Ù₧ÓáíóúñÑªº¿Ò¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  863: 'ÇüéâÂà¶çêëèïî‗À§ÉÈÊôËÏûù¤ÔÜ¢£ÙÛƒ¦´óú¨¸³¯Î⌐¬½¼¾«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
  865: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø₧ƒáíóúñÑªº¿⌐¬½¼¡«¤░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0',
};

/** The names of these code pages: `IBM850`, `cp850`, `850`, `CP00858`, and longer forms. */
const CODE_PAGE_NAME = /^(?:x-)?(?:cs)?(?:ibm|cp|pc?cp|ccsid|dos|pc)?[-_]?0{0,2}(\d{3})(?:multilingual)?$/;

const CODE_PAGE_ALIASES: Readonly<Record<string, string>> = {
  cspc8codepage437: '437',
  'pc-multilingual-850+euro': '858',
};

const UTF_7_NAME = /^(?:x-)?(?:cs)?(?:utf-?7|unicode-?[12]-?[01]-?utf-?7|unicode11utf7)$/;

// cspell:enable

/** Returns whether {@link decodeRareCharset} knows a charset. */
export function isRareCharset(charset: string): boolean {
  return UTF_7_NAME.test(charset.toLowerCase()) || codePageOf(charset) !== undefined;
}

/** Decodes a text in UTF-7 or in a code page of DOS; returns `undefined` for any other charset. */
export function decodeRareCharset(bytes: Uint8Array, charset: string): string | undefined {
  if (UTF_7_NAME.test(charset.toLowerCase())) return decodeUtf7(bytes);
  const page = codePageOf(charset);
  return page === undefined ? undefined : decodeWithPage(bytes, page);
}

function codePageOf(charset: string): string | undefined {
  const name = charset.toLowerCase();
  return CODE_PAGES[CODE_PAGE_ALIASES[name] ?? CODE_PAGE_NAME.exec(name)?.[1] ?? ''];
}

function decodeWithPage(bytes: Uint8Array, page: string): string {
  const characters = Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : page.charAt(byte - 0x80)));
  return characters.join('');
}

const SHIFTED = /\+([A-Za-z0-9+/]*)-?/g;

/** Decodes UTF-7 (RFC 2152), in which `+` begins UTF-16 in base64, and `+-` is a plus sign. */
function decodeUtf7(bytes: Uint8Array): string {
  const text = new TextDecoder('windows-1252').decode(bytes);
  return text.replace(SHIFTED, (written, base64: string) => {
    if (base64 === '') return written === '+-' ? '+' : written;
    const units: number[] = [];
    let [bits, bitCount] = [0, 0];
    for (const digit of base64) {
      bits = ((bits << 6) | BASE64_DIGITS.indexOf(digit)) & 0x3fffff;
      bitCount += 6;
      if (bitCount < 16) continue;
      bitCount -= 16;
      units.push((bits >> bitCount) & 0xffff);
    }
    return units.map((unit) => String.fromCharCode(unit)).join('');
  });
}

const BASE64_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
