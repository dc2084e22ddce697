import { expect, it } from 'vitest';
import { findAnomalies, NO_ANOMALIES } from '../../../testing/isolation-anomalies.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';

const postgres = postgresUnderTest();

it.each(atLevel({ test: [2], verify: [2, 3] }))('%i instances have no isolation anomaly', async (instances) => {
  const rounds = atLevel({ test: 3, verify: 40 });
  expect(await findAnomalies(postgres.server, { instances, rounds })).toEqual(NO_ANOMALIES);
});
