/** The views, the forms, and what else a trace does not have. The page loads them when one of them is needed. */
export { KeysView } from './keys/keys-view.tsx';
export { AddInbox } from './mail/add-inbox.tsx';
export { Drafts } from './mail/drafts.tsx';
export { writeOwnPage } from './run/save-page.ts';
export { BehavioursView } from './settings/behaviours-view.tsx';
export { StateView } from './settings/state-view.tsx';
export { TimeView } from './settings/time-view.tsx';
export { AddEndpoint, EndpointActions } from './webhooks/endpoint-actions.tsx';
export { EventForm, SignatureForm } from './webhooks/signature-form.tsx';
