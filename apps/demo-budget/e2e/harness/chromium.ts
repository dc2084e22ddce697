import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chromium, type BrowserContext } from 'playwright/test';
import { findChromium, type Kind } from '../../../../scripts/find-chromium.mjs';
import { endWithTests, killGroup } from './children.ts';

/**
 * Chromium refuses to start as root with its sandbox. Most other flags keep it from contacting Google's services, which
 * is slow on a closed network.
 */
const quietFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Keeps V8's baseline code for SQLite. Optimizing it in every new tab takes longer than a test can gain from it.
  '--js-flags=--liftoff-only',
];

/** Only a hang takes this long. */
const startDeadlineMs = 5 * 60_000;

function executablePath(kind?: Kind): string {
  const path = findChromium(kind);
  if (path === undefined) throw new Error('Chromium not found; `npm test` finds or installs it');
  return path;
}

/** A browser with its profile on disk. Not an incognito profile: those keep OPFS in memory and behave differently. */
export async function openChromium(
  profile: string,
  viewport: { width: number; height: number } = { width: 1280, height: 900 },
  kind?: Kind,
): Promise<BrowserContext> {
  return await chromium.launchPersistentContext(profile, {
    executablePath: executablePath(kind),
    args: quietFlags,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    viewport,
  });
}

/**
 * A browser that can be killed abruptly: all its processes end at once, without receiving a signal that they could
 * handle.
 */
export interface KillableChromium {
  readonly context: BrowserContext;
  /** Resolves when the process has exited. */
  kill(): Promise<void>;
}

export async function openKillableChromium(profile: string): Promise<KillableChromium> {
  const flags = [
    ...quietFlags,
    '--headless=new',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--lang=en-GB',
    '--password-store=basic',
    'about:blank',
  ];
  // The browser runs in its own process group, so that one signal reaches it, its renderers and its services.
  const child = spawn(executablePath(), flags, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  endWithTests(child);
  const gone = once(child, 'exit');
  const kill = async (): Promise<void> => {
    killGroup(child);
    await gone;
  };

  try {
    const endpoint = await new Promise<string>((resolve, reject) => {
      let output = '';
      const deadline = setTimeout(
        () => reject(new Error(`Chromium did not start in time. Its output:\n${output}`)),
        startDeadlineMs,
      );
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const found = /DevTools listening on (ws:\S+)/.exec(output)?.[1];
        if (found === undefined) return;
        clearTimeout(deadline);
        resolve(found);
      });
      child.once('exit', () => {
        clearTimeout(deadline);
        reject(new Error(`Chromium exited during startup. Its output:\n${output}`));
      });
    });
    const browser = await chromium.connectOverCDP(endpoint, { timeout: startDeadlineMs });
    const [context] = browser.contexts();
    if (context === undefined) throw new Error('Chromium has no default context');
    return { context, kill };
  } catch (error) {
    await kill();
    throw error;
  }
}
