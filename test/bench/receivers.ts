// A child process: `receivers.ts 10`. It runs so many receivers that answer at once, and tells its parent their URLs.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

process.once('disconnect', () => process.exit());

const starting = Array.from({ length: Number(process.argv[2]) }, () => startReceiver());
process.send?.(await Promise.all(starting));

function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}
