import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, addAddress, type InboxClient, openInboxClients, sendDraft } from '../../support/inbox-clients.ts';

interceptRequests();

const { messages: MESSAGES, threads: THREADS } = IDS.acme;

const message = async (inboxClient: InboxClient, id: string) => (await inboxClient.call('GET', `/messages/${id}`)).json;

describe('sending', () => {
  everywhere('replies in the thread, to whoever wrote, and quotes nothing', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { status, json } = await helpdesk.call('POST', `/reply/${MESSAGES.cannotLogIn}`, { plainBody: 'Try again.' });
    expect([status, json.threadId]).toEqual([200, THREADS.login]);
    expect(await message(helpdesk, json.id)).toMatchObject({
      to: 'dana@customer.test',
      cc: [],
      bcc: [],
      subject: 'Re: Cannot log in',
      plainBody: 'Try again.',
      htmlBody: null,
      inReplyTo: '<login-1@customer.test>',
    });
  });

  everywhere('replies to Reply-To where there is one', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    await info.mail([helpdesk.address, ADDRESS.dana], { replyTo: 'Answers <answers@globex.test>' });
    const { id } = await helpdesk.latest();
    for (const [way, cc] of [
      ['reply', []],
      ['reply-all', [ADDRESS.dana]],
    ] as const) {
      const { json } = await helpdesk.call('POST', `/${way}/${id}`, {});
      expect(await message(helpdesk, json.id)).toMatchObject({ to: 'answers@globex.test', cc });
    }
  });

  everywhere('replies to whomever a message of one’s own went to', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { json } = await helpdesk.call('POST', `/reply/${MESSAGES.linkSent}`, {});
    expect(await message(helpdesk, json.id)).toMatchObject({
      to: 'dana@customer.test',
      subject: 'Re: Cannot log in',
      inReplyTo: '<login-2@acme.test>',
      threadId: THREADS.login,
    });
  });

  everywhere('refuses a reply to what went to nobody openly', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { json } = await sendDraft(helpdesk, { bcc: ADDRESS.dana });
    const refused = await helpdesk.call('POST', `/reply/${json.id}`, {});
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'This message cannot be replied to: it has no recipient in To.',
    ]);
  });

  everywhere('replies to all without its own addresses, each of the others once', async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    await addAddress(service, helpdesk.id, 'support@acme.test', true);
    await sendDraft(info, {
      to: ['Helpdesk <helpdesk@acme.test>', billing.address, 'Info <INFO@globex.test>'],
      cc: ['SUPPORT@acme.test', 'Billing <Billing@acme.test>', ADDRESS.dana, 'Dana <dana@customer.test>'],
      subject: 'All',
    });
    const { json } = await helpdesk.call('POST', `/reply-all/${(await helpdesk.latest()).id}`, { plainBody: 'Yes.' });
    expect(await message(helpdesk, json.id)).toMatchObject({
      from: 'support@acme.test',
      to: 'info@globex.test',
      cc: [billing.address, ADDRESS.dana],
      subject: 'Re: All',
    });
    expect((await billing.latest()).messageIdHeader).toBe(json.messageId);
  });

  everywhere('prefixes Re: and Fwd: once, in whatever case they are', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    for (const [subject, replied, forwarded] of [
      ['Hi', 'Re: Hi', 'Fwd: Hi'],
      ['Re: Hi', 'Re: Hi', 'Fwd: Re: Hi'],
      ['RE: Hi', 'RE: Hi', 'Fwd: RE: Hi'],
      ['Fwd: Hi', 'Re: Fwd: Hi', 'Fwd: Hi'],
      ['FW: Hi', 'Re: FW: Hi', 'FW: Hi'],
      ['Regards', 'Re: Regards', 'Fwd: Regards'],
      ['', 'Re: ', 'Fwd: '],
    ]) {
      await info.mail(helpdesk.address, { subject });
      const { id } = await helpdesk.latest();
      const reply = await helpdesk.call('POST', `/reply/${id}`, {});
      const forward = await helpdesk.call('POST', `/forward/${id}`, { to: ADDRESS.dana });
      expect((await message(helpdesk, reply.json.id)).subject).toBe(replied);
      expect((await message(helpdesk, forward.json.id)).subject).toBe(forwarded);
    }
  });

  everywhere('forwards the original with its attachments, byte by byte, in a new thread', async (service) => {
    const { billing, info } = openInboxClients(service);
    const { status, json } = await billing.call('POST', `/forward/${MESSAGES.invoice}`, {
      to: info.address,
      plainBody: 'See below.',
    });
    expect(status).toBe(200);
    expect(json.threadId).not.toBe(THREADS.invoice);
    const received = await info.latest();
    expect(received).toMatchObject({ subject: 'Fwd: Invoice 1042', inReplyTo: null, htmlBody: null });
    expect(received.plainBody).toBe(
      [
        'See below.',
        '',
        '---------- Forwarded message ----------',
        'From: Accounts <accounts@customer.test>',
        'Date: 2026-01-07T14:20:00.000Z',
        'Subject: Invoice 1042',
        'To: billing@acme.test',
        '',
        'Could you add our purchase order number to invoice 1042?',
      ].join('\n'),
    );
    const [file] = received.attachments;
    expect(file).toMatchObject({ filename: 'Bestellung für 1042.png', contentType: 'image/png', sizeBytes: 69 });
    const there = await info.call('GET', `/messages/${received.id}/attachments/${file.id}`);
    const here = await billing.call('GET', `/messages/${MESSAGES.invoice}/attachments/${IDS.acme.attachments.order}`);
    expect(there.bytes).toEqual(here.bytes);
    expect((await message(billing, json.id)).attachments).toHaveLength(1);
  });

  everywhere('forwards as HTML where either is HTML, and escapes what is plain', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    await info.mail(helpdesk.address, { subject: '<s> & "t"', plainBody: 'a < b\nc & d' });
    const original = await helpdesk.latest();
    const { json } = await helpdesk.call('POST', `/forward/${original.id}`, {
      to: ADDRESS.dana,
      subject: 'Mine',
      htmlBody: '<p>Look:</p>',
    });
    const forward = await message(helpdesk, json.id);
    expect(forward.subject).toBe('Mine');
    expect(forward.htmlBody).toBe(
      [
        '<p>Look:</p>',
        `<p>---------- Forwarded message ----------<br>From: Globex &lt;info@globex.test&gt;<br>Date: ${original.receivedAt}<br>Subject: &lt;s&gt; &amp; &quot;t&quot;<br>To: helpdesk@acme.test</p>`,
        '<p>a &lt; b<br>c &amp; d</p>',
      ].join('\n'),
    );
    await info.mail(helpdesk.address, { plainBody: '', htmlBody: '<h1>Rich</h1>' });
    const rich = await helpdesk.call('POST', `/forward/${(await helpdesk.latest()).id}`, {
      to: ADDRESS.dana,
      plainBody: '1 < 2',
    });
    const { htmlBody } = await message(helpdesk, rich.json.id);
    expect(htmlBody.startsWith('<p>1 &lt; 2</p>\n<p>')).toBe(true);
    expect(htmlBody.endsWith('\n<h1>Rich</h1>')).toBe(true);
  });
});
