import { it } from 'vitest';
import { checkKilledMoves } from '../../../testing/killed-moves.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';

const postgres = postgresUnderTest();
const kills = atLevel({ test: 3, verify: 3, deep: 20 });

it(`a database keeps every write exactly once when its move is killed ${kills} times`, async () => {
  await checkKilledMoves(postgres.server, kills);
});
