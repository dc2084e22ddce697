import type { Client } from '@rockpool/client';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import type { LiveState } from '../interface/live-query.ts';
import type { SqlRow } from '../rpc/sql-value.ts';
import { settle } from '../../testing/fake-tabs.ts';
import { iterateStates } from '../tab/subscriptions.ts';
import { drizzle } from './drizzle.ts';
import { liveQuery } from './live-query.ts';

const todo = sqliteTable('todo', { id: text().primaryKey() });

it('a live query of Drizzle ends an iteration that waits for a state when the loop is ended from outside', async () => {
  let listeners = 0;
  const subscribe = (_listener: (state: LiveState<SqlRow>) => void): (() => void) => {
    listeners++;
    return () => void listeners--;
  };
  const live = () => ({ subscribe, [Symbol.asyncIterator]: () => iterateStates({ subscribe }) });
  const client = { live } as unknown as Client;
  const states = liveQuery(client, drizzle(client).select().from(todo))[Symbol.asyncIterator]();
  const ended: unknown[] = [];
  void states.next().then((result) => ended.push(result));
  await settle();
  expect(listeners).toBe(1);
  void states.return().then((result) => ended.push(result));
  await settle();
  const done = { done: true, value: undefined };
  expect([ended, listeners]).toEqual([[done, done], 0]);
});
