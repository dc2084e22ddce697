import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import {
  checkNamesAsValues,
  checkNamesAtBackend,
  checkNamesInRequests,
  checkNamesOfDatabases,
} from '../../testing/made-up-names.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

// The host program's databases are on its own thread.
const tested = serverUnderTest({ threads: 1, limits: { memberChangeBurst: Infinity } });

describe('names made up by clients', () => {
  it('open no database and touch no file, even if a token lists them', async () => {
    await expect(checkNamesOfDatabases(tested.server, atLevel({ test: 100, verify: 1_000 }))).resolves.toBeUndefined();
  });

  it('are never accepted as a schema, a session or an invitation', async () => {
    await expect(checkNamesInRequests(tested.server, atLevel({ test: 50, verify: 500 }))).resolves.toBeUndefined();
  });

  it('are never accepted as tables or columns by the host program', async () => {
    await expect(checkNamesAtBackend(tested.server, atLevel({ test: 130, verify: 1_500 }))).resolves.toBeUndefined();
  });

  it('are stored as ordinary values, as principals and as texts', async () => {
    await expect(checkNamesAsValues(tested.server, atLevel({ test: 150, verify: 2_000 }))).resolves.toBeUndefined();
  });
});
