import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { CALM_RETRY_MS, retryDelayMs } from './retry-delay.ts';
import { nextStep } from './sync-machine.ts';
import { INITIAL_STATE, type MachineEvent, type MachineState } from './sync-state.ts';

const trouble = (code: ErrorCode): ReturnType<RockpoolError['toData']> => new RockpoolError(code).toData();

describe('the next attempt', () => {
  const spans = (code: ErrorCode, failures: readonly number[]): number[][] =>
    failures.map((count) => [retryDelayMs(trouble(code), count, 0), retryDelayMs(trouble(code), count, 1)]);

  it('comes soon without a connection, then every 2.5 to 5 s for four minutes, then more rarely', () => {
    expect(spans('network-unreachable', [1, 2, 60, 61, 62, 63, 1_000])).toEqual([
      [0, 3_000],
      [2_500, 5_000],
      [2_500, 5_000],
      [5_000, 10_000],
      [10_000, 20_000],
      [15_000, 30_000],
      [15_000, 30_000],
    ]);
  });

  it('comes after growing delays, up to half a minute, if the server answers', () => {
    expect(spans('database-unavailable', [1, 2, 3, 10])).toEqual([
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [15_000, 30_000],
    ]);
    expect(spans('token-callback-failed', [1, 10])).toEqual([
      [250, 500],
      [15_000, 30_000],
    ]);
  });

  it('comes after 30 to 60 s if only a person can help, but at once after a token has expired', () => {
    expect(spans('schema-mismatch', [1, 10])).toEqual([
      [CALM_RETRY_MS / 2, CALM_RETRY_MS],
      [CALM_RETRY_MS / 2, CALM_RETRY_MS],
    ]);
    expect(spans('auth-token-expired', [1, 2])).toEqual([
      [0, 0],
      [CALM_RETRY_MS / 2, CALM_RETRY_MS],
    ]);
  });
});

const CLIENTS = 2_000;
const DOWN_MS = 30_000;

/**
 * Simulates the clients of a server that dies at 0 and returns after `downMs`, in virtual time: when each attempt
 * began, and when each client was connected again.
 */
function herd(downMs: number, seed: number): { readonly attemptsMs: number[]; readonly connectedMs: number[] } {
  let bits = seed;
  const random = (): number => {
    bits = (Math.imul(bits, 1_664_525) + 1_013_904_223) >>> 0;
    return bits / 2 ** 32;
  };
  const attemptsMs: number[] = [];
  const connectedMs: number[] = [];
  for (let client = 0; client < CLIENTS; client++) {
    let nowMs = 0;
    let state: MachineState = INITIAL_STATE;
    const happens = (event: MachineEvent): void => {
      const step = nextStep(state, event, { nowMs, wallMs: nowMs, random: random() });
      state = step.state;
      if (step.effects.some(({ type }) => type === 'connect')) attemptsMs.push(nowMs);
    };
    happens({ type: 'start' });
    attemptsMs.pop();
    for (;;) {
      // The port of a dead server refuses connections at once.
      happens({ type: 'failed', error: trouble('network-unreachable') });
      nowMs = state.wakeAtMs ?? Infinity;
      happens({ type: 'wake' });
      if (nowMs >= downMs) break;
    }
    connectedMs.push(nowMs - downMs);
  }
  return { attemptsMs, connectedMs: connectedMs.sort((a, b) => a - b) };
}

/** The largest number of these moments within any one second. */
function peakPerSecond(momentsMs: readonly number[]): number {
  const sorted = [...momentsMs].sort((a, b) => a - b);
  let first = 0;
  let most = 0;
  for (const [last, momentMs] of sorted.entries()) {
    while (momentMs - (sorted[first] as number) >= 1_000) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

describe('2,000 clients whose server returns', () => {
  it.each([1, 2, 3, 4, 5])(
    'are connected within 2 s in the median and 5 s at most after an outage of 30 s, with at most 800 attempts in any second (seed %i)',
    (seed) => {
      const { attemptsMs, connectedMs } = herd(DOWN_MS, seed);
      expect(connectedMs).toHaveLength(CLIENTS);
      expect(connectedMs[CLIENTS / 2]).toBeLessThan(2_000);
      expect(connectedMs.at(-1)).toBeLessThanOrEqual(5_000);
      expect(peakPerSecond(attemptsMs)).toBeLessThanOrEqual(800);
    },
  );

  it('do not all connect in the same second after a restart', () => {
    const { attemptsMs, connectedMs } = herd(0, 1);
    expect(connectedMs[CLIENTS / 2]).toBeLessThan(2_000);
    expect(connectedMs.at(-1)).toBeLessThanOrEqual(3_000);
    expect(peakPerSecond(attemptsMs)).toBeLessThanOrEqual(800);
  });
});
