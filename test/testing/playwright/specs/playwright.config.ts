import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@playwright/test';

const { CHROMIUM_PATH: executablePath = '' } = process.env;

export default defineConfig({
  // Without `paths`, so that the specs use the built package: Playwright would compile its sources at each start.
  tsconfig: 'tsconfig.json',
  testMatch: '*.pw.ts',
  reporter: process.env.FAILING ? [['line'], ['json']] : 'line',
  outputDir: join(tmpdir(), 'agent-mailbox-mock-playwright'),
  workers: 1,
  use: { launchOptions: { executablePath, args: ['--no-sandbox', '--disable-gpu'] } },
});
