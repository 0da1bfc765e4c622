/** What a report, and the head of a trial, have besides the style of the inspector, whose colours and sizes they use. */
export const REPORT_STYLE = `
body:has(> .report) { display: block; height: auto; overflow: visible; }
.report { display: block; max-width: 92rem; margin: 0 auto; padding: var(--gap-5); }
.report h2 { font-size: 1.1rem; margin: 0; }
.report > section { margin-top: 2.25rem; }
.report h1 { font-size: 2rem; font-weight: 700; letter-spacing: -0.02em; margin: 0; }
.report h1 span { display: block; font-size: var(--small); font-weight: 500; letter-spacing: 0; color: var(--soft); }
.report .share { display: block; width: 100%; height: 0.9rem; margin: var(--gap-3) 0 var(--gap-2); border-radius: 999px; background: var(--plain-back); }
.share .passed { fill: var(--good); }
.share .failed { fill: var(--bad); }
.share .not-judged { fill: var(--warn); }
.report .counts { margin: 0; font-weight: 500; }
.report dl { display: flex; flex-wrap: wrap; gap: var(--gap-2) 2.5rem; margin: var(--gap-4) 0; }
.report dt { font-size: var(--small); color: var(--soft); }
.report dd { margin: 0; font-weight: 600; }
.report .notes { margin: 0; padding: 0; list-style: none; color: var(--soft); }

.report table { width: 100%; border-collapse: collapse; table-layout: auto; margin-top: var(--gap-2); }
.report :is(th, td) { width: auto; padding: var(--gap-3) 0 var(--gap-3) 1.25rem; text-align: right; vertical-align: top; white-space: nowrap; overflow-wrap: normal; border-bottom: 1px solid var(--line); }
.report thead th { position: sticky; top: 0; z-index: 1; padding-block: var(--gap-2); font-size: var(--small); font-weight: 500; color: var(--soft); background: var(--back); vertical-align: bottom; }
.report thead th:first-child, .report tbody th { width: 100%; max-width: 0; padding-left: 0; text-align: left; font-weight: 400; color: var(--text); white-space: normal; overflow-wrap: anywhere; }
.report thead th:first-child { color: var(--soft); }
.report .title { display: block; font-weight: 600; }
.report summary.title { padding: 0; }
.report th p { margin: 0.15rem 0 var(--gap-1); max-width: 44rem; font-size: var(--small); }
.report .line { display: none; }
.report .besides { color: var(--soft); }
.report .unmet .column-required { color: var(--bad); font-weight: 600; }
.report .dots { display: flex; flex-wrap: wrap; gap: 2px; margin: 0.15rem 0 0 -0.3rem; }
.report .dot { min-width: 1.6rem; min-height: 1.6rem; line-height: 1.6rem; border-radius: 6px; text-align: center; text-decoration: none; font-weight: 700; }
.report a.dot:hover { background: var(--sunken); outline: 1px solid currentcolor; }
.report .dot:target { background: var(--chosen); outline: 2px solid var(--accent); }
.report .dot.passed { color: var(--good); }
.report .dot.failed { color: var(--bad); }
.report .dot:is(.silent, .not-judged) { color: var(--warn); }
.report .dot.failed { background: var(--bad-back); }
.report .dot:is(.silent, .not-judged) { background: var(--warn-back); }
.report .why { display: flex; gap: var(--gap-2); font-size: var(--small); color: var(--soft); white-space: nowrap; }
.report .why a { min-width: 0; overflow: hidden; text-overflow: ellipsis; color: inherit; text-decoration: none; }
.report .why a:hover { color: var(--text); text-decoration: underline; }
.report:has(#only-failures:checked) tbody tr:not(.has-failures) { display: none; }
.report .check { gap: 0.5rem; min-height: 2rem; cursor: pointer; }

.report .agents { margin: var(--gap-4) 0; }
.report .agents .share { height: 0.6rem; margin: var(--gap-1) 0 0; }
.report .agents .unmet .column-gates { color: var(--bad); font-weight: 600; }
.report .by-agent { table-layout: fixed; }
.report .by-agent :is(thead th:first-child, tbody th) { width: 34%; max-width: none; }
.report .by-agent :is(thead th:not(:first-child), td) { text-align: left; overflow-wrap: anywhere; }
.report .by-agent thead th { white-space: normal; }
.report .by-agent .dots { margin-top: -0.1rem; }
.report .by-agent .agent { display: none; }
.report .by-agent .count { font-size: var(--small); color: var(--soft); white-space: normal; }
.report .by-agent .bad .count { color: var(--bad); font-weight: 600; }
.report .by-agent .bad .besides { color: inherit; }

.report summary { cursor: pointer; overflow-wrap: anywhere; }
.report .group { border: 1px solid var(--line); border-radius: 12px; margin-top: var(--gap-2); background: var(--back); }
.report .group:target { border-color: var(--accent); }
.report .group > summary { padding: var(--gap-3) var(--gap-4); font-weight: 500; }
.report .group .times { display: inline-block; min-width: 2.75rem; color: var(--bad); font-weight: 700; }
.report #untold ~ .group .times { color: var(--warn); }
.report .group .soft { font-weight: 400; white-space: nowrap; }
.report .one { margin: 0 var(--gap-4); padding: var(--gap-2) 0; border-top: 1px solid var(--line); }
.report .one > p { margin: var(--gap-2) 0; }
.report .trial-head { display: none; }

.trial-slot { flex: none; max-height: 46dvh; overflow: auto; border-bottom: 1px solid var(--line); background: var(--raised); }
.trial-slot .trial { padding: var(--gap-3) var(--gap-5); }
.trial-head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--gap-1) var(--gap-3); overflow-wrap: anywhere; }
.trial-head strong { font-size: 1.05rem; }
.trial-head nav { margin-left: auto; flex-wrap: nowrap; white-space: nowrap; }
.trial-body { overflow-wrap: anywhere; }
.trial-body summary { cursor: pointer; }
.trial-body > div > details > summary { color: var(--soft); }
.trial-slot .trial-body { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 var(--gap-5); align-items: start; }
.trial-slot .trial-body > div { padding-top: var(--gap-2); }
.trial-slot .expectations { margin: 0; }
.bar .button { flex: none; white-space: nowrap; }
.trial-body .ended { margin: var(--gap-2) 0; font-weight: 600; }
.expectations { list-style: none; margin: var(--gap-2) 0; padding: 0; }
.expectations > li { display: grid; grid-template-columns: 1.25rem minmax(0, 1fr); align-items: baseline; padding-block: 0.1rem; }
.expectations .mark { font-weight: 700; }
.bad-mark > .mark { color: var(--bad); }
.bad-mark > :not(.mark) { font-weight: 600; }
.good-mark > .mark { color: var(--good); }
.warn-mark > .mark { color: var(--warn); }
.trial-body pre { font-weight: 400; margin: var(--gap-1) 0 var(--gap-2); padding: var(--gap-2) var(--gap-3); border: 1px solid var(--line); border-radius: var(--round); background: var(--sunken); }

.bubble.place { border: 2px solid var(--bad); }
.place-note { margin: 0 0 var(--gap-1); font-weight: 600; color: var(--bad); overflow-wrap: anywhere; }
.place-end { padding: var(--gap-3); border-top: 2px solid var(--bad); }

@media screen and (max-width: 1279px) {
  .report .besides { display: none; }
  .report .by-agent .dots { max-width: 8.8rem; }
}
@media (max-width: 1100px) {
  .report :is(th, td) { padding-left: 0.9rem; }
}
@media (max-width: 760px) {
  .report { padding: var(--gap-4); }
  .report dl { column-gap: var(--gap-5); }
  .report thead { display: none; }
  .report :is(table, tbody) { display: block; }
  .report tbody tr { display: block; padding-block: var(--gap-2); border-bottom: 1px solid var(--line); }
  .report tbody tr > th { display: block; max-width: none; padding: 0; border: 0; }
  .report td { display: none; }
  .report .line { display: block; font-size: var(--small); color: var(--soft); white-space: nowrap; }
  .report .line.bad { color: var(--bad); }
  .report .by-agent tbody tr > th:first-child { width: auto; }
  .report .by-agent td { display: grid; grid-template-columns: 5.5rem auto minmax(0, 1fr); align-items: center; gap: 0 var(--gap-2); padding: var(--gap-1) 0; border: 0; }
  .report .by-agent .agent { display: block; font-size: var(--small); color: var(--soft); }
  .report .by-agent .dots { margin: 0; max-width: 10.2rem; }
  .report .by-agent .count { white-space: nowrap; text-align: right; }
  .report .why { display: none; }
  .report .dot { min-width: 1.9rem; min-height: 1.9rem; line-height: 1.9rem; }
  .trial-slot { max-height: 36dvh; }
  .trial-slot .trial { padding: var(--gap-2) var(--gap-3); }
  .trial-slot .trial-body { display: block; }
  .trial-head nav { margin-left: 0; }
}
@media print {
  @page { size: a4 landscape; margin: 12mm; }
  .report { max-width: none; padding: 0; font-size: 0.7rem; }
  .report h1 { font-size: 1.5rem; }
  .report thead th { position: static; }
  .report :is(tr, .one) { break-inside: avoid; }
  .report :is(.check, .button) { display: none; }
  .report .why a { overflow: visible; white-space: normal; }
  .report details::details-content { content-visibility: visible; display: block; block-size: auto; }
  .report .share, .report .dot, .chip { print-color-adjust: exact; }
  .trial-slot { max-height: none; overflow: visible; }
  .trial-head nav { display: none; }
  .trial-slot details::details-content { content-visibility: visible; display: block; block-size: auto; }
}
`;
