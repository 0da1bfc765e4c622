import { defineConfig } from '@playwright/test';

const { CHROMIUM_PATH: executablePath = '' } = process.env;

export default defineConfig({
  testMatch: '*.pw.ts',
  reporter: 'line',
  workers: 1,
  use: { launchOptions: { executablePath, args: ['--no-sandbox', '--disable-gpu'] } },
});
