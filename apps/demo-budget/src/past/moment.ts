import { RockpoolError, type PastMoment } from '@rockpool/client';
import { versionOf, type PastView } from '../budget/view.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { formatDay, formatMoment } from '../shell/locale.ts';

/** The moment that a view shows. A day shows its end, in the user's time zone. */
export function momentOf(view: PastView): PastMoment {
  const version = versionOf(view);
  if (version !== null) return { version };
  const [year, month, day] = view.split('-').map(Number) as [number, number, number];
  return { time: new Date(year, month - 1, day + 1).getTime() - 1 };
}

/** The calendar day of a time, in the user's time zone, as `YYYY-MM-DD`. */
export function dayOf(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** The moment in words: `at the end of 1 Mar 2026`, `on 3 Mar 2026, 14:05`. */
export function momentWords(view: PastView, receivedMs: number): string {
  return versionOf(view) === null ? `at the end of ${formatDay(view)}` : `on ${formatMoment(receivedMs)}`;
}

/** Why a past state cannot be shown, and what is still possible. */
export function pastErrorSentence(error: unknown, view: PastView): string {
  if (!(error instanceof RockpoolError)) return errorSentence(error);
  const { reason, earliestMs } = error.fields;
  switch (error.code) {
    case 'history-moment-gone': {
      const then = versionOf(view) === null ? formatDay(view) : 'this time';
      if (reason === 'before-start')
        return typeof earliestMs === 'number'
          ? `This budget did not exist on ${then}. It began on ${formatDay(dayOf(earliestMs))}.`
          : `This budget did not exist on ${then}.`;
      return typeof earliestMs === 'number'
        ? `The budget as it was on ${then} is no longer kept. The earliest day that may be kept is ${formatDay(dayOf(earliestMs))}.`
        : `The budget as it was on ${then} is no longer kept.`;
    }
    case 'network-unreachable':
      return 'Earlier states of the budget are on the server, which cannot be reached. Connect to the internet, then try again.';
    case 'auth-forbidden':
      return 'Your role in this budget does not include its past. Ask an owner for access.';
    case 'rate-limited':
      return 'The server is preparing other earlier states. Try again in a minute.';
    default:
      return errorSentence(error);
  }
}
