import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { HAS_OPENSSL, makeCertificate } from '../support/certificate.ts';
import { makeFolder } from '../support/folder.ts';
import { createOutput, fill, openConnections, PIECE, takeSome } from '../support/slow-clients.ts';

test.skipIf(!HAS_OPENSSL)(
  'a client of TLS that takes nothing is closed, and one that takes some is not',
  async (context) => {
    const files = makeCertificate(await makeFolder(context));
    const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];
    await using opened = await openConnections(2);
    const secured = await Promise.all(
      opened.connections.map(async ({ socket, client }) => {
        const secureSocket = new TLSSocket(socket, {
          isServer: true,
          secureContext: createSecureContext({ cert, key }),
        });
        const secureClient = connectTls({ socket: client, rejectUnauthorized: false });
        await once(secureClient, 'secureConnect');
        secureSocket.on('error', () => {});
        secureClient.on('error', () => {});
        secureClient.pause();
        return { socket: secureSocket, client: secureClient };
      }),
    );
    const [slow, quick] = secured as [(typeof secured)[0], (typeof secured)[0]];
    const { output, check } = createOutput({});
    for (const { socket } of secured) {
      await fill(socket, 64 * PIECE.length);
      output.written(socket, 'test');
    }
    for (let second = 0; second < 25; second += 1) check();
    await takeSome(quick);
    for (let second = 0; second < 25; second += 1) check();
    expect([slow.socket.destroyed, quick.socket.destroyed]).toEqual([true, false]);
  },
);
