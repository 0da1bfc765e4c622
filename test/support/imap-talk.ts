import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { connect as connectTls } from 'node:tls';

/** A value of a reply: a text, NIL, or a list. Atoms, quoted texts and literals are all texts. */
export type Value = string | null | Value[];

/** The replies to a command: the untagged lines without their `* `, and the tagged one without its tag. */
export interface Replies {
  readonly lines: string[];
  readonly result: string;
}

/** Talks IMAP over a stream. One character stands for each byte. */
export class ImapTalk implements Disposable {
  readonly #write: Writable;
  readonly #close: () => void;
  #received = '';
  /** How much must have been received before the next line can be complete: a literal may come in many pieces. */
  #needed = 0;
  #count = 0;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();

  constructor(read: Readable, write: Writable, close: () => void) {
    this.#write = write;
    this.#close = close;
    read.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
      this.#wake();
    });
    read.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
    // A write to a connection that the server has ended fails, and the wait for its reply says so.
    write.on('error', () => this.#wake());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends a command, with a literal for each further part, and returns the replies. */
  async command(text: string, ...parts: readonly (Uint8Array | string)[]): Promise<Replies> {
    this.#count += 1;
    const tag = `t${this.#count}`;
    this.send(`${tag} ${text}`);
    for (const part of parts) {
      if (typeof part === 'string') this.send(part);
      else {
        this.send(` {${part.length}+}\r\n`);
        this.#write.write(part);
      }
    }
    this.send('\r\n');
    return this.until(tag);
  }

  /** Sends a command that must succeed, and returns its untagged lines. */
  async ok(text: string, ...parts: readonly (Uint8Array | string)[]): Promise<string[]> {
    const { lines, result } = await this.command(text, ...parts);
    if (!result.startsWith('OK')) throw new Error(`${text}: ${result}`);
    return lines;
  }

  send(text: string): void {
    if (!this.#write.destroyed) this.#write.write(text, 'latin1');
  }

  /** Returns all lines until the reply with this tag; `*` and `+` stand for any such line. */
  async until(tag: string): Promise<Replies> {
    const lines: string[] = [];
    for (;;) {
      const line = await this.next();
      if (line.startsWith(`${tag} `)) return { lines, result: line.slice(tag.length + 1) };
      lines.push(line.replace(/^\* /, ''));
    }
  }

  /** Returns the next line, with the literals in it. */
  async next(): Promise<string> {
    for (;;) {
      const line = this.#take();
      if (line !== undefined) return line;
      if (this.#isClosed) throw new Error(`The connection has ended after ${JSON.stringify(this.#received)}.`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Resolves when the other side has ended the connection, with what it sent before. */
  async ended(): Promise<string> {
    while (!this.#isClosed) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.#received;
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** Takes a whole line, if it has arrived. */
  #take(): string | undefined {
    if (this.#received.length < this.#needed) return undefined;
    let at = 0;
    for (;;) {
      const end = this.#received.indexOf('\r\n', at);
      if (end < 0) return undefined;
      const [, size] = /\{(\d+)\}$/.exec(this.#received.slice(Math.max(at, end - 12), end)) ?? [];
      if (size === undefined) {
        const line = this.#received.slice(0, end);
        this.#received = this.#received.slice(end + 2);
        this.#needed = 0;
        return line;
      }
      at = end + 2 + Number(size);
      this.#needed = at;
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Connects to an IMAP server, and reads its greeting. With a certificate, the connection begins with TLS. */
export async function talkTo(port: number, ca?: Buffer): Promise<ImapTalk> {
  // A command is written in several pieces, which would otherwise wait for each other.
  const address = { port, host: '127.0.0.1', noDelay: true };
  const socket: Duplex = ca ? connectTls({ ...address, ca }) : connect(address);
  const talk = talkOver(socket);
  await once(socket, ca ? 'secureConnect' : 'connect');
  await talk.next();
  return talk;
}

function talkOver(socket: Duplex): ImapTalk {
  socket.on('error', () => socket.destroy());
  return new ImapTalk(socket, socket, () => socket.destroy());
}

/** Encrypts a connection after STARTTLS. */
export async function encryptTalk(socket: Socket, ca: Buffer): Promise<ImapTalk> {
  const secure = connectTls({ socket, ca, servername: 'localhost' });
  await once(secure, 'secureConnect');
  return talkOver(secure);
}

/** Returns the items of a FETCH line by their names. */
export function readFetch(line: string): Record<string, Value> {
  const [list] = parseValues(line.slice(line.indexOf('(')));
  const items = Array.isArray(list) ? list : [];
  return Object.fromEntries(items.flatMap((name, at) => (at % 2 === 0 ? [[String(name), items[at + 1] ?? null]] : [])));
}

/** Parses the values of a reply. */
export function parseValues(text: string): Value[] {
  let at = 0;
  const readList = (end: string | undefined): Value[] => {
    const list: Value[] = [];
    while (at < text.length && text[at] !== end) {
      if (text[at] === ' ') at += 1;
      else list.push(readValue());
    }
    at += 1;
    return list;
  };
  const readValue = (): Value => {
    if (text[at] === '(') {
      at += 1;
      return readList(')');
    }
    const [quoted, inner] = match(/"((?:[^"\\]|\\.)*)"/sy);
    if (quoted !== undefined) return inner?.replace(/\\(.)/gs, '$1') ?? '';
    const [literal, size] = match(/\{(\d+)\}\r\n/y);
    if (literal !== undefined) {
      at += Number(size);
      return text.slice(at - Number(size), at);
    }
    const [atom = text[at] ?? ''] = match(/(?:BODY\[[^\]]*\](?:<\d+>)?|[^\s()"{]+)/y);
    if (atom.length === 1 && text[at] === atom) at += 1;
    return atom === 'NIL' ? null : atom;
  };
  const match = (pattern: RegExp): string[] => {
    pattern.lastIndex = at;
    const found = pattern.exec(text) ?? [];
    at += found[0]?.length ?? 0;
    return [...found];
  };
  return readList(undefined);
}
