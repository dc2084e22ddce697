import type { ErrorData, SyncStatus } from '@rockpool/client';
import { describe, expect, it } from 'vitest';
import { statusWords, stuckSentence, takeBackSentence, timeAgo, timeSpan } from './status-sentence.ts';

const status: SyncStatus = {
  state: 'up-to-date',
  pendingCount: 0,
  rejectedCount: 0,
  sentUpTo: null,
  reason: null,
  readOnly: null,
  userMayWrite: null,
  waitingFor: null,
  stuck: null,
  snapshot: null,
  lastContactMs: null,
  persistence: 'opfs',
  role: 'leader',
  clockOffsetMs: null,
  clockWrong: false,
};

it('the status says that rejected changes are only on this device', () => {
  expect(statusWords(status).detail).toBe('This device and the server have the same data.');
  expect(statusWords({ ...status, rejectedCount: 1 }).detail).toBe(
    'This device and the server have the same data, except for the rejected changes.',
  );
});

describe('the sync sentences', () => {
  it('say how many changes are unsent', () => {
    expect(statusWords({ ...status, state: 'offline', pendingCount: 3 }).label).toBe('Offline · 3 to sync');
    expect(statusWords({ ...status, state: 'pushing', pendingCount: 1 })).toMatchObject({
      label: 'Sending 1',
      detail: '1 change being sent to the server.',
    });
    expect(statusWords(status)).toMatchObject({ label: 'Up to date', tone: 'good' });
  });

  it('do not name the network as the cause if the server cannot serve the budget', () => {
    const unavailable = (problem: string): SyncStatus => ({
      ...status,
      state: 'unavailable',
      pendingCount: 2,
      reason: { code: 'database-unavailable', fields: { problem }, recovery: 'retry', message: '' },
    });
    expect(statusWords(unavailable('not registered')).detail).toContain('does not know this budget yet');
    expect(statusWords(unavailable('disk-full'))).toMatchObject({
      label: 'Server trouble · 2 to sync',
      detail: expect.stringContaining('cannot open this budget right now') as string,
    });
    expect(statusWords({ ...status, state: 'offline' }).detail).toContain('unreachable');
  });

  it('ask to reload an outdated tab', () => {
    expect(statusWords({ ...status, state: 'outdated', role: 'none', pendingCount: 2 })).toMatchObject({
      label: 'Reload this tab',
      tone: 'attention',
    });
  });

  it('name the current step during the first sync', () => {
    const waiting = (stage: 'snapshot-build' | 'snapshot-download' | 'token'): string =>
      statusWords({ ...status, state: 'connecting', waitingFor: { stage, sinceMs: 0, deadlineMs: 1 } }).detail;
    expect(waiting('snapshot-build')).toContain('preparing');
    expect(waiting('snapshot-download')).toContain('Downloading');
    expect(waiting('token')).toBe('Connecting to the server.');
  });

  it('say that the server does not respond, also during the next connection attempt', () => {
    const unanswered = (stage: string): SyncStatus['reason'] => ({
      code: 'network-unreachable',
      fields: { stage },
      recovery: 'retry',
      message: '',
    });
    expect(statusWords({ ...status, state: 'offline', reason: unanswered('welcome') }).detail).toContain(
      'accepts the connection but does not respond. You can keep working',
    );
    expect(statusWords({ ...status, state: 'connecting', reason: unanswered('outcome') }).detail).toBe(
      'The server does not acknowledge your changes. Connecting to the server.',
    );
    expect(statusWords({ ...status, state: 'connecting', reason: unanswered('socket') }).detail).toContain(
      'unreachable',
    );
    expect(statusWords({ ...status, state: 'connecting' }).detail).toBe('Connecting to the server.');
  });

  it('give the reason if sync is blocked', () => {
    const reason = {
      code: 'schema-mismatch',
      fields: {},
      recovery: 'upgrade',
      message: 'Client and server have different schemas.',
    } as const;
    expect(statusWords({ ...status, state: 'blocked', reason })).toMatchObject({
      tone: 'attention',
      detail: expect.stringContaining('Reload the page') as string,
    });
    const full = { code: 'storage-full', fields: {}, recovery: 'free-space', message: '' } as const;
    expect(statusWords({ ...status, state: 'blocked', reason: full }).detail).toContain('out of space');
    const forbidden = { code: 'auth-forbidden', fields: {}, recovery: 'ask-user', message: '' } as const;
    expect(statusWords({ ...status, state: 'blocked', reason: forbidden }).detail).toContain('You can only view');
    const noRoom = { code: 'quota-exceeded', fields: {}, recovery: 'ask-user', message: '' } as const;
    expect(statusWords({ ...status, state: 'blocked', reason: noRoom }).detail).toContain('no room for more data');
  });

  it('advise to take changes back only if that helps', () => {
    const refused = (code: ErrorData['code'], fields: ErrorData['fields'] = {}): ErrorData => ({
      code,
      fields,
      recovery: 'ask-user',
      message: '',
    });
    expect(takeBackSentence(refused('quota-exceeded', { quota: 'database-bytes' }))).toContain('holds up the rest');
    expect(takeBackSentence(refused('auth-forbidden'))).toContain('while you can only view');
    const sites = refused('quota-exceeded', { quota: 'sites' });
    for (const reason of [null, sites, refused('schema-mismatch')]) expect(takeBackSentence(reason)).toBe(null);
    const { detail } = statusWords({ ...status, state: 'blocked', reason: sites });
    expect(detail).toContain('no more devices');
    expect(detail).not.toContain('Take back');
  });

  it('describe a pause, a step without progress, and the next attempt', () => {
    expect(statusWords({ ...status, state: 'paused', pendingCount: 2 }).label).toBe('Paused · 2 to sync');
    const error = { code: 'internal', fields: {}, recovery: 'bug', message: '' } as const;
    expect(stuckSentence({ stage: 'apply', times: 3, error, next: 'reload' })).toBe(
      'Changes from the server cannot be saved on this device (tried 3 times); loading everything again next; unsent changes are kept.',
    );
  });

  it('give the rough time since the last contact', () => {
    const nowMs = 1_000_000_000;
    expect(
      [nowMs, nowMs - 30_000, nowMs - 60_000, nowMs - 7_200_000, nowMs + 5_000].map((thenMs) =>
        timeAgo(thenMs, nowMs, 'en'),
      ),
    ).toEqual(['just now', 'just now', '1 minute ago', '2 hours ago', 'just now']);
  });

  it('give a clock error in readable units', () => {
    const hourMs = 3_600_000;
    expect([70_000, hourMs, 5 * hourMs, 365 * 24 * hourMs].map((spanMs) => timeSpan(spanMs, 'en'))).toEqual([
      '1 minute',
      '60 minutes',
      '5 hours',
      '365 days',
    ]);
  });
});
