// A child process: bare `node:http`, which answers every request with the head and the bytes that its argument names.
import { createServer } from 'node:http';

const [port, headers, body] = process.argv.slice(2);
const head = JSON.parse(headers);
const bytes = Buffer.from(body);

createServer((_request, response) => {
  response.writeHead(200, head);
  response.end(bytes);
}).listen(Number(port), '127.0.0.1');
