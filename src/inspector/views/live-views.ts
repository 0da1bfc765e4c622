/** The views that a trace does not have. The page loads them when one of them is opened. */
export { KeysView } from './keys/keys-view.tsx';
export { Drafts } from './mail/drafts.tsx';
export { BehavioursView } from './settings/behaviours-view.tsx';
export { StateView } from './settings/state-view.tsx';
export { TimeView } from './settings/time-view.tsx';
