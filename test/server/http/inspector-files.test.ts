import { gzipSync } from 'node:zlib';
import { HttpResponse, http } from 'msw';
import { describe, test } from 'vitest';
import { startBuiltServer } from '../../inspector/open-inspector.ts';

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const TOKEN = 'a-token-of-sixteen';

const get = (url: string, headers: Record<string, string> = PAGE) => fetch(url, { headers, redirect: 'manual' });

describe('the files of the inspector', () => {
  test('are sent to a browser under a strict policy', async ({ expect }) => {
    await using server = await startBuiltServer();
    const page = await get(`${server.control}/`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      "frame-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const sources = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source);
    expect(sources.length).toBeGreaterThan(2);
    const files = await Promise.all(sources.map((source) => get(server.url + source)));
    expect(files.map(({ status }) => status)).toEqual(sources.map(() => 200));
    let [fontBytes, otherBytes] = [0, 0];
    for (const file of files) {
      const bytes = await file.arrayBuffer();
      if (file.headers.get('content-type') === 'font/woff2') fontBytes += bytes.byteLength;
      else otherBytes += gzipSync(bytes).byteLength;
    }
    expect(fontBytes).toBeGreaterThan(0);
    expect(fontBytes).toBeLessThan(60_000);
    expect(otherBytes).toBeLessThan(87_000);
  });

  test('include the README of the package, as text', async ({ expect }) => {
    await using server = await startBuiltServer();
    const page = await get(`${server.control}/inspector/README.md`);
    expect(page.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await page.text()).toMatch(/^# agent-mailbox-mock\n/);
  });

  test('are sent once, and the icon and the font are not even asked for again', async ({ expect }) => {
    await using server = await startBuiltServer();
    for (const path of [
      '/',
      '/inspector/inspector.js',
      '/inspector/inspector.css',
      '/inspector/icon.svg',
      '/inspector/inter.woff2',
    ]) {
      const first = await get(server.control + path);
      const etag = String(first.headers.get('etag'));
      const again = await get(server.control + path, { ...PAGE, 'if-none-match': `"old", ${etag}` });
      expect([again.status, again.headers.get('etag'), await again.text()], path).toEqual([304, etag, '']);
      expect((await get(server.control + path, { ...PAGE, 'if-none-match': '"old"' })).status).toBe(200);
      const caching = /\.(?:svg|woff2)$/.test(path) ? 'max-age=86400' : 'no-cache';
      expect([first, again].map(({ headers }) => headers.get('cache-control'))).toEqual([caching, caching]);
    }
  });

  test('are where / and /__mock lead a browser, and no other client', async ({ expect }) => {
    await using server = await startBuiltServer();
    for (const path of ['/', '/__mock']) {
      const response = await get(server.url + path);
      expect([response.status, response.headers.get('location')]).toEqual([302, '/__mock/']);
    }
    expect((await get(`${server.url}/`, {})).status).toBe(404);
    expect((await get(`${server.url}/`, { accept: '*/*, Text/HTML;level=1; q=0.0' })).status).toBe(404);
    expect((await get(`${server.url}/`, { accept: '*/*, Text/HTML;level=1; q=0.1' })).status).toBe(302);
    expect(await (await get(`${server.control}/`, {})).json()).toHaveProperty('calls');
    expect((await fetch(server.url, { method: 'POST', headers: PAGE })).status).toBe(404);
  });

  test('leave the path / to a handler of the user', async ({ expect }) => {
    const handlers = [http.get('/', () => HttpResponse.text('mine'))];
    await using server = await startBuiltServer({ handlers });
    expect(await (await get(`${server.url}/`)).text()).toBe('mine');
    expect((await get(`${server.control}/`)).status).toBe(200);
  });

  test('are the only files that are sent', async ({ expect }) => {
    await using server = await startBuiltServer();
    for (const name of ['', 'main.tsx', '..%2fmain.cjs', '%2e%2e/package.json', 'toString', 'THIRD-PARTY-LICENSES']) {
      expect((await get(`${server.control}/inspector/${name}`)).status, name).toBe(404);
    }
  });

  test('need no token, but every call and every page of a mail does', async ({ expect }) => {
    await using server = await startBuiltServer({ controlToken: TOKEN });
    const { messages } = server.mailbox.searchMail();
    const mail = `${server.control}/messages/${messages[0]?.id}`;
    expect((await get(`${server.control}/`)).status).toBe(200);
    expect((await get(`${server.control}/inspector/inspector.js`)).status).toBe(200);
    for (const url of [`${server.control}/tenants`, mail, `${mail}.html`, `${mail}.html?proof=${'0'.repeat(64)}`]) {
      expect((await get(url)).status, url).toBe(401);
    }
    expect((await get(`${mail}.html`, { 'x-mock-token': TOKEN })).status).toBe(200);
  });

  test('are refused at a foreign host name', async ({ expect }) => {
    await using server = await startBuiltServer({ allowHosts: ['mail.test'] });
    const { request } = await import('node:http');
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        const { port } = server;
        request({ port, host: '127.0.0.1', path: '/__mock/', headers: { ...PAGE, host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    expect(await statusFor('evil.test')).toBe(403);
    expect(await statusFor('mail.test')).toBe(200);
  });
});
