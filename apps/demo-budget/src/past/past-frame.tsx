import { RockpoolError, type PastState } from '@rockpool/client';
import { RockpoolProvider, useClient } from '@rockpool/client/react';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { versionOf, ViewProvider, type PastView } from '../budget/view.ts';
import { today } from '../shell/locale.ts';
import { megabytes } from '../shell/megabytes.ts';
import { hashOf } from '../shell/navigation.ts';
import { ViewBanner } from '../shell/view-banner.tsx';
import { DayForm } from './day-form.tsx';
import { dayOf, momentOf, momentWords, pastErrorSentence } from './moment.ts';
import { pastClient } from './past-client.ts';

export interface PastFrameProps {
  readonly budget: Budget;
  readonly view: PastView;
  /** The pages, which show the past state. */
  readonly children: ReactNode;
}

type Loading = { readonly receivedBytes: number; readonly totalBytes: number };
type Opened = { readonly past: PastState } | { readonly error: unknown } | null;

/** Shows pages as of a past moment, which it downloads, or says why that is not possible. */
export default function PastFrame({ budget, view, children }: PastFrameProps): ReactNode {
  const client = useClient();
  const [opened, setOpened] = useState<Opened>(null);
  const [progress, setProgress] = useState<Loading | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isShown = true;
    let past: PastState | null = null;
    setOpened(null);
    setProgress(null);
    client.past(momentOf(view), { onProgress: (received) => isShown && setProgress(received) }).then(
      (state) => {
        past = state;
        if (isShown) setOpened({ past });
        else past.close().catch(() => undefined);
      },
      (error: unknown) => isShown && setOpened({ error }),
    );
    return () => {
      isShown = false;
      past?.close().catch(() => undefined);
    };
  }, [attempt, client, view]);
  const past = opened !== null && 'past' in opened ? opened.past : null;
  const pagesClient = useMemo(() => (past === null ? null : pastClient(client, past)), [client, past]);
  const day = versionOf(view) === null ? view : past === null ? today() : dayOf(past.receivedMs);
  const shown = useMemo(() => ({ view, day }), [day, view]);
  const back = hashOf(budget, { page: 'envelopes', view: 'today' });

  if (opened !== null && 'error' in opened)
    return (
      <section className="card form" aria-label="Look back">
        <h1>Look back</h1>
        <p role="alert">{pastErrorSentence(opened.error, view)}</p>
        <DayForm key={view} budget={budget} day={versionOf(view) === null ? view : today()} />
        <div className="buttons">
          {opened.error instanceof RockpoolError && opened.error.recovery === 'retry' && (
            <button type="button" onClick={() => setAttempt(attempt + 1)}>
              Try again
            </button>
          )}
          <a href={back}>Back to today</a>
        </div>
      </section>
    );
  if (past === null || pagesClient === null)
    return (
      <section className="card form" aria-label="Look back" aria-busy="true">
        <p role="status">
          Loading the budget as it was …{' '}
          {progress !== null && `${megabytes(progress.receivedBytes)} of ${megabytes(progress.totalBytes)}`}
        </p>
        <progress
          aria-label="Loading"
          {...(progress === null ? {} : { value: progress.receivedBytes, max: progress.totalBytes })}
        />
        <p>
          <a href={back}>Back to today</a>
        </p>
      </section>
    );
  return (
    <RockpoolProvider client={pagesClient}>
      <ViewProvider value={shown}>
        <ViewBanner kind="past">
          <strong>The budget as it was {momentWords(view, past.receivedMs)}.</strong> Read-only.
          <a href={hashOf(budget, { page: 'look-back', view })}>Another day</a>
          <a href={back}>Back to today</a>
        </ViewBanner>
        {children}
      </ViewProvider>
    </RockpoolProvider>
  );
}
