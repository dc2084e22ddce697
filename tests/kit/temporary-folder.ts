import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished, TestRunner } from 'vitest';

/**
 * Creates a folder and returns its path. Called in a test or in a `beforeEach` hook, the folder is removed after the
 * test and its `afterEach` hooks; called while a file or suite is being collected, after the last test of it. Throws in
 * a `beforeAll` hook, where Vitest accepts neither registration.
 */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'rockpool-test-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return path;
}
