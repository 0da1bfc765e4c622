/** What `init` writes: a fixture that runs as it is, with comments that lead to what else there is. */
export const STARTER_FIXTURE = `// What an emulated mailbox service starts with. Only what is written here is yours to choose: ids, keys, names, times
// and addresses that are left out are derived from the handles ("acme", "support", …), the same in every run.
{
  "tenants": {
    // A tenant. Its key is tk_acme_tenant_key.
    "acme": {
      "workspaces": {
        // The first workspace is the default one. Its key is wk_acme_support_key.
        "support": {
          "inboxes": {
            // This inbox receives at helpdesk@acme.test. Its key is ak_acme_helpdesk_key.
            "helpdesk": {
              "displayName": "Acme Helpdesk",
              "messages": [
                {
                  "from": "Dana Reyes <dana@customer.test>",
                  "subject": "Cannot log in",
                  "plainBody": "Since this morning the login page says that my password has expired.",
                  "messageIdHeader": "<login-1@customer.test>",
                  // The bytes of an attachment are its "text", or base64 in "content".
                  "attachments": [{ "filename": "error.txt", "contentType": "text/plain", "text": "403 Forbidden" }],
                },
                {
                  // An answer is in the thread of the message that it names.
                  "direction": "outbound",
                  "to": "dana@customer.test",
                  "subject": "Re: Cannot log in",
                  "plainBody": "We have sent you a link to set a new one.",
                  "inReplyTo": "<login-1@customer.test>",
                },
              ],
              // A draft names the message that it answers by its header, or by its id.
              "drafts": [
                { "to": "dana@customer.test", "subject": "Did it work?", "replyToMessageId": "<login-1@customer.test>" },
              ],
              "lists": {
                "customers": { "entries": ["dana@customer.test"] },
              },
            },
          },
        },
      },
      "domains": {
        // acme.test is here by itself, verified, because an inbox uses it.
        // A workspace may have a domain of its own; pending until it is verified.
        "mail.acme.test": { "workspace": "support", "status": "pending" },
      },
      "webhooks": {
        // It gets every kind of event of the whole tenant, unless it says "events" or "workspace".
        // Deliveries go to its URL, where your code should listen.
        "audit": { "url": "http://127.0.0.1:9999/audit" },
      },
    },
  },
}
`;
