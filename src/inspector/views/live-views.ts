/** The views, and what else a trace does not have. The page loads them when one of them is needed. */
export { KeysView } from './keys/keys-view.tsx';
export { writeOwnPage } from './run/save-page.ts';
export { BehavioursView } from './settings/behaviours-view.tsx';
export { StateView } from './settings/state-view.tsx';
export { TimeView } from './settings/time-view.tsx';
