import config from './cypress.config.mjs';

// Calls the functions of the recipe for Cypress as Cypress does.
const on = {};
const { env } = await config.e2e.setupNodeEvents((event, act) => Object.assign(on, { [event]: act }), {});
await on.task.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody: 'Hello!' });
const { plainBody } = await on.task.waitForMessage({ to: 'helpdesk@acme.test' });
const { status } = await fetch(`${env.mailboxUrl}/health`);
const seen = [plainBody, status, on.task.reset()];
if (`${seen}` !== 'Hello!,200,') throw new Error(`The tasks of the recipe returned ${seen}.`);
await on['after:run']();
