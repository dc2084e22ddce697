import { expect, it } from 'vitest';
import { TableAudits } from '../audit/table-audits.ts';
import type { Subscriber } from '../fanout/subscription.ts';
import { openDatabaseFile } from '../store/database-file.ts';
import { EVERYTHING } from '../store/read-filter.ts';
import { ACCOUNTS, TEST_SCHEMA } from '../../testing/test-schema.ts';
import { SessionAudits } from './session-audits.ts';
import { Sessions } from './sessions.ts';
import { until } from '../../../../tests/kit/until.ts';

it('audits of several sessions run one after another, without those of sessions that have ended', async () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  let running = 0;
  let most = 0;
  class CountedAudits extends TableAudits {
    override async answer(...asked: Parameters<TableAudits['answer']>): ReturnType<TableAudits['answer']> {
      most = Math.max(most, ++running);
      const answer = await super.answer(...asked);
      running--;
      return answer;
    }
  }
  const sessions = new Sessions();
  const audits = new SessionAudits(new CountedAudits(file), sessions, (_, error) => expect.unreachable(String(error)));
  const answered: string[] = [];
  const subscribers = ['a', 'b', 'c'].map((site): Subscriber => {
    const subscriber = {
      ...{ site, hasEnded: false, fail: (error: unknown) => expect.unreachable(String(error)) },
      send: () => void answered.push(site),
    };
    sessions.subscribe({
      ...{ subscriber, filter: EVERYTHING, principal: 'ann', logEpoch: new Uint8Array(16), siteNumber: null },
      ...{ cursor: 0, lastAckedSequence: 0, ownFrom: 0 },
    });
    return subscriber;
  });
  for (const subscriber of subscribers)
    audits.audit(
      subscriber,
      { type: 'audit', cursor: 0, tables: [{ tableId: ACCOUNTS.id, sums: [0, 0] }] },
      () => undefined,
    );
  sessions.remove(subscribers[1] as Subscriber);
  await expect.poll(() => answered).toEqual(['a', 'c']);
  expect(most).toBe(1);
  file.sql.close();
});

it('an audit reveals a client that has not received what was sent before the response to its last audit', async () => {
  const file = openDatabaseFile(':memory:', TEST_SCHEMA);
  const sessions = new Sessions();
  const audits = new SessionAudits(new TableAudits(file), sessions, (_, error) => expect.unreachable(String(error)));
  let answers = 0;
  const subscriber = {
    ...{ site: 'a', hasEnded: false, fail: (error: unknown) => expect.unreachable(String(error)) },
    send: () => void answers++,
  };
  const subscription = {
    ...{ subscriber, filter: EVERYTHING, principal: 'ann', logEpoch: new Uint8Array(16), siteNumber: null },
    ...{ cursor: 0, lastAckedSequence: 0, ownFrom: 0 },
  };
  sessions.subscribe(subscription);
  const audit = async (cursor: number): Promise<void> => {
    const before = answers;
    audits.audit(subscriber, { type: 'audit', cursor, tables: [] }, () => undefined);
    await until(() => answers > before);
  };
  await audit(0);
  // A delivery may cross an audit.
  subscription.cursor = 1;
  await audit(0);
  await expect(audit(0)).rejects.toMatchObject({ code: 'slow-consumer', fields: { cursor: 0, sent: 1 } });
  await audit(1);
  file.sql.close();
});
