import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { isLocked, lockDirectory } from './directory-lock.ts';

const failure = (problem: string): object => ({
  code: 'database-unavailable',
  fields: { problem: expect.stringContaining(problem) as string },
});

it('a directory has one server at a time', () => {
  const folder = temporaryFolder();
  expect(isLocked(folder)).toBe(false);
  expect(existsSync(join(folder, 'server.lock'))).toBe(false);
  const lock = lockDirectory(folder);
  expect(isLocked(folder)).toBe(true);
  expect(() => lockDirectory(folder)).toThrow(expect.objectContaining(failure('another server uses')) as Error);
  lock.release();
  expect(isLocked(folder)).toBe(false);
  lockDirectory(folder).release();
});

it('a directory that this process cannot write to does not count as used by another server', () => {
  const folder = temporaryFolder();
  // Cannot be opened as a file, by any user.
  mkdirSync(join(folder, 'server.lock'));
  expect(isLocked(folder)).toBe(false);
  expect(() => lockDirectory(folder)).toThrow(expect.objectContaining(failure('cannot write to')) as Error);
});
