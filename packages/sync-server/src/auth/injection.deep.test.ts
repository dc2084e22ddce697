import { describe, expect, it } from 'vitest';
import {
  checkNamesAsValues,
  checkNamesAtBackend,
  checkNamesInRequests,
  checkNamesOfDatabases,
} from '../../testing/made-up-names.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';

const tested = serverUnderTest({ limits: { memberChangeBurst: Infinity } });

describe('names made up by clients', () => {
  it('open no database and touch no file: 20,000 names', async () => {
    await expect(checkNamesOfDatabases(tested.server, 20_000)).resolves.toBeUndefined();
  });

  it('are never accepted as a schema, a session or an invitation: 10,000 names', async () => {
    await expect(checkNamesInRequests(tested.server, 10_000)).resolves.toBeUndefined();
  });

  it('are never accepted as tables or columns by the host program: 30,000 names', async () => {
    await expect(checkNamesAtBackend(tested.server, 30_000)).resolves.toBeUndefined();
  });

  it('are stored as ordinary values: 40,000 names', async () => {
    await expect(checkNamesAsValues(tested.server, 40_000)).resolves.toBeUndefined();
  });
});
