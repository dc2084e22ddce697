import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config';
import type {} from './packages/vfs-opfs/testing/browser-media.ts';
import type { BrowserCommand } from 'vitest/node';
import { findChromium } from './scripts/find-chromium.mjs';
import { bundledScripts } from './scripts/tests/bundled-scripts.mjs';
import { bundledWorkers } from './scripts/tests/bundled-workers.mjs';
import { cachedModules } from './scripts/tests/cached-modules.mjs';
import { isolatedFiles } from './scripts/tests/isolated-files.mjs';
import { levelOfThisRun } from './scripts/tests/level.mjs';
import LongestFirst from './scripts/tests/longest-first.mjs';
import { recycledForks } from './scripts/tests/recycled-forks.mjs';
import { seedOfThisRun } from './scripts/tests/seed.mjs';
import type { Level } from './tests/kit/level.ts';

// The suffix of a file selects where it runs: .test.ts in Node, .browser.test.ts in Chromium. A level in the suffix
// selects when it runs: .verify.test.ts and .verify.browser.test.ts from `npm run verify` on, .deep.test.ts and
// .deep.browser.test.ts only by `npm run verify:deep`. `scripts/tests/test-files.mjs` reads the same suffixes.
const notOurs = ['**/node_modules/**', '**/dist/**', '**/.rockpool/**'];
const browserTests = '**/*.browser.test.{ts,tsx}';
const verifyTests = '**/*.verify.test.{ts,tsx}';
const deepTests = '**/*.deep.test.{ts,tsx}';
// Needs a stock browser: vitest.stock-browsers.config.ts.
const stockTests = '**/*.stock.test.ts';
const verifyBrowserTests = '**/*.verify.browser.test.{ts,tsx}';
const deepBrowserTests = '**/*.deep.browser.test.{ts,tsx}';

/**
 * Server tests that run only on files and without threads: they depend on the files of the server, read a file that no
 * server has open, or need an answer before the outcome of a commit.
 */
const filesAlone = [
  'auth/host-rules',
  'database/database-cache',
  'database/restored-log',
  'log/killed-server',
  'admission/copied-site',
].map((name) => `packages/sync-server/src/${name}.test.ts`);

// Each run gets its own profile. In an incognito context, Chromium keeps OPFS in memory-backed storage, a hundred times
// slower, and Playwright opens an incognito context unless it gets a profile folder. Each project has its own: the
// browser of the next one may start before that of the last one has ended, and a profile serves one browser.
const profiles = join(tmpdir(), `rockpool-vitest-${process.pid}`);
process.once('exit', () => rmSync(profiles, { recursive: true, force: true, maxRetries: 5 }));

const executablePath = findChromium();

/** Passes the level of the run to the tests of every project. */
export const level: Level = levelOfThisRun();

/** Passes the seed of the run to the tests of every project. */
export const seed: number = seedOfThisRun(level);

/** The set-up of every Node project: everything random follows from the seed. */
export const nodeSetup = 'tests/kit/seeded-chance.ts';

/**
 * Flags of the processes of Node tests. By default, V8 collects all garbage whenever buffers and the memories of SQLite
 * have taken 64 MB more, however little garbage there is. That took 40 % of the processor time of tests that open
 * databases. With the first flag, it waits until all memory has grown by a factor, which the second one sets to two:
 * without it, the factor is up to four. Deep tests measure memory, so they run without the flags.
 */
const nodeFlags = ['--external-memory-accounted-in-global-limit', '--heap-growing-percent=100'];

// Long enough that only a hang ends a test: a busy machine must not fail one. Tests have no limits of their own.
const HANG_MS = 15 * 60_000;
export const hangLimits: {
  readonly hookTimeout: number;
  readonly expect: { readonly poll: { readonly timeout: number } };
} = { hookTimeout: HANG_MS, expect: { poll: { timeout: 3 * 60_000 } } };

/**
 * Vite finds dependencies by reading imports, but not those of a worker, and reloads the page in the middle of a test
 * when it meets a new one. So every source file is an entry.
 */
export const optimizeDeps: NonNullable<ViteUserConfig['optimizeDeps']> = {
  entries: [
    'packages/{shared,vfs-opfs,client}/src/**/*.{ts,tsx}',
    'apps/*/src/**/*.{ts,tsx}',
    '!**/*.test.*',
    '!**/*.node.ts',
    '!**/testing/**',
  ],
  exclude: ['wa-sqlite'], // locates its .wasm beside itself, so it must not be bundled
};

/** Lets the tests of a project share one PostgreSQL. It starts only if a test needs it. */
const postgresOnDemand = 'packages/sync-server/testing/postgres-on-demand.ts';

/** Node tests that need modules of their own. They form the project `node-isolated`. */
const isolated = isolatedFiles();

/** Commands that browser tests can call in this process. */
export const commands: Record<string, BrowserCommand<string[]>> = {
  // The first `failures` requests of this script fail, as offline, and the next ones succeed, until `endFailures`.
  failFirst: async (
    { page },
    url = '',
    failures = '1',
    body = `export const answer = 42; export const { url } = import.meta;`,
  ) => {
    let left = Number(failures);
    await page.route(`${url}*`, (route) =>
      left-- > 0 ? route.abort() : route.fulfill({ contentType: 'text/javascript', body }),
    );
  },
  // Chromium uses no cache while requests are intercepted.
  endFailures: ({ page }) => page.unrouteAll(),
  // Loaded on demand: most tests need no server.
  accessToSyncServer: async (_context, schemaJson = '', databaseId = '', origin = '', principal = 'ann') =>
    (await import('./tests/kit/sync-server.ts')).accessToSyncServer(schemaJson, databaseId, origin, principal),
};

/** The tests that need a browser. */
function inChromium(test: {
  readonly name: string;
  readonly include: string[];
  readonly exclude: string[];
  readonly testTimeout: number;
}): TestProjectInlineConfiguration {
  const profile = join(profiles, test.name);
  return {
    optimizeDeps,
    plugins: [bundledWorkers(), cachedModules()],
    test: {
      ...test,
      provide: {
        level,
        seed,
        usableMedia: ['opfs-shared', 'opfs-exclusive', 'indexeddb'],
        refusal: 'storage-unsupported',
      },
      setupFiles: 'tests/kit/keep-sqlite-compiled.ts',
      // How long the page of a test file may take to load; the default is a minute.
      env: { VITEST_BROWSER_IFRAME_TIMEOUT: String(HANG_MS) },
      // One profile cannot be shared by parallel sessions: Vitest would drop it with only a warning.
      fileParallelism: false,
      ...hangLimits,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        // The default is a minute, which includes the start of Chromium and the bundling of dependencies.
        connectTimeout: HANG_MS,
        provider: playwright({
          launchOptions: {
            ...(executablePath === undefined ? {} : { executablePath }),
            args: [
              '--no-sandbox', // Chromium refuses to start as root with its sandbox
              // The first stack trace in a worker otherwise parses its whole bundle again, for the lines.
              '--js-flags=--no-enable-lazy-source-positions',
            ],
          },
          persistentContext: profile,
        }),
        commands: { ...commands, opfsIsOnDisk: () => existsSync(join(profile, 'Default/File System')) },
        instances: [{ browser: 'chromium' }],
      },
    },
  };
}

// Vitest listens to the signals and the end of its process once for each of the projects below.
process.setMaxListeners(50);

const config: ViteUserConfig = defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // A process that ended late on a busy machine is no failure.
    teardownTimeout: HANG_MS,
    projects: [
      {
        plugins: [bundledScripts()],
        test: {
          name: 'node',
          environment: 'node',
          include: [
            'packages/*/{src,testing}/**/*.test.{ts,tsx}',
            'apps/*/{samples,server,src}/**/*.test.{ts,tsx}',
            'tests/**/*.test.{ts,tsx}',
            'scripts/**/*.test.{ts,mjs}',
            'benchmarks/*/**/*.test.ts',
          ],
          exclude: [...notOurs, browserTests, verifyTests, deepTests, stockTests, ...isolated],
          // Files share the modules of their process.
          isolate: false,
          pool: recycledForks,
          unstubGlobals: true,
          provide: { level, seed },
          setupFiles: nodeSetup,
          execArgv: nodeFlags,
          globalSetup: postgresOnDemand,
          testTimeout: HANG_MS,
          ...hangLimits,
        },
      },
      {
        plugins: [bundledScripts()],
        test: {
          name: 'node-isolated',
          environment: 'node',
          include: isolated,
          provide: { level, seed },
          setupFiles: nodeSetup,
          execArgv: nodeFlags,
          testTimeout: HANG_MS,
          ...hangLimits,
        },
      },
      {
        plugins: [bundledScripts()],
        test: {
          name: 'verify',
          environment: 'node',
          include: [verifyTests],
          exclude: notOurs,
          provide: { level, seed },
          setupFiles: nodeSetup,
          execArgv: nodeFlags,
          globalSetup: postgresOnDemand,
          testTimeout: HANG_MS,
          ...hangLimits,
        },
      },
      {
        plugins: [bundledScripts()],
        test: {
          name: 'deep',
          environment: 'node',
          include: [deepTests],
          exclude: notOurs,
          provide: { level, seed },
          setupFiles: nodeSetup,
          globalSetup: postgresOnDemand,
          // Many seeds and a crash at every storage call: only these tests may take minutes.
          testTimeout: 15 * 60_000,
          ...hangLimits,
        },
      },
      {
        plugins: [bundledScripts()],
        test: {
          name: 'postgres',
          environment: 'node',
          // The server tests again, on PostgreSQL.
          include: [
            'packages/sync-server/src/{admin,admission,auth,backend,conflict-log,documents,fanout,history,log,merge,pull,session,snapshot}/*.test.ts',
          ],
          exclude: [...notOurs, verifyTests, deepTests, ...filesAlone],
          provide: { level, seed },
          setupFiles: nodeSetup,
          execArgv: nodeFlags,
          globalSetup: 'packages/sync-server/testing/postgres-for-all.ts',
          testTimeout: HANG_MS,
          ...hangLimits,
        },
      },
      {
        plugins: [bundledScripts()],
        test: {
          name: 'threads',
          environment: 'node',
          // The server tests again, with databases on threads of their own.
          include: [
            'packages/sync-server/src/{admin,admission,auth,conflict-log,documents,fanout,history,log,merge,pull,presence,session,snapshot}/*.test.ts',
            'packages/sync-server/src/store/schema-versions.test.ts',
          ],
          exclude: [...notOurs, verifyTests, deepTests, ...filesAlone],
          provide: { level, seed, threads: 2 },
          setupFiles: nodeSetup,
          execArgv: nodeFlags,
          globalSetup: postgresOnDemand,
          testTimeout: HANG_MS,
          ...hangLimits,
        },
      },
      inChromium({
        name: 'browser',
        include: [browserTests],
        exclude: [...notOurs, verifyBrowserTests, deepBrowserTests],
        testTimeout: HANG_MS,
      }),
      inChromium({ name: 'browser-verify', include: [verifyBrowserTests], exclude: notOurs, testTimeout: HANG_MS }),
      inChromium({ name: 'browser-deep', include: [deepBrowserTests], exclude: notOurs, testTimeout: 15 * 60_000 }),
    ],
  },
});

export default config;
