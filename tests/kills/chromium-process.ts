import { spawn } from 'node:child_process';
import { findChromium } from '../../scripts/find-chromium.mjs';

export interface ChromiumProcess {
  /** Kills the browser and all of its processes at once. */
  kill(): Promise<void>;
}

/** A real Chromium with a profile on disk and this page, without automation. */
export function startChromium(profile: string, url: string): ChromiumProcess {
  const program = findChromium('complete');
  if (program === undefined) throw new Error('Chromium not found; `npm test` finds or installs it');
  const switches = [
    '--headless=new',
    '--no-sandbox',
    '--no-zygote',
    '--no-first-run',
    '--disable-breakpad',
    '--disable-gpu',
    '--disable-popup-blocking',
    `--user-data-dir=${profile}`,
  ];
  // The browser runs in its own process group, so that one signal reaches all its processes and none of the test's.
  const child = spawn(program, [...switches, url], { stdio: 'ignore', detached: true });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All processes have ended already.
    }
  };
  process.once('exit', killGroup);
  return {
    async kill() {
      killGroup();
      await ended;
      process.off('exit', killGroup);
    },
  };
}
