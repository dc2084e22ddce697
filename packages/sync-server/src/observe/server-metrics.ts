import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Durations, Gauge, type Metric } from './metric.ts';

/**
 * What a server counts. No name of a database, a principal or a site is a label: the numbers may be shown to whoever
 * runs the machine.
 */
export class ServerMetrics {
  readonly sessionsOpened: Counter = new Counter(
    'rockpool_sessions_opened_total',
    'Sessions whose hello was in order.',
  );
  readonly sessionsFailed: Counter = new Counter(
    'rockpool_sessions_failed_total',
    'Sessions that ended with a failure, by its code. Limits that were hit are among them.',
  );
  readonly socketsRefused: Counter = new Counter(
    'rockpool_sockets_refused_total',
    'WebSockets refused before the upgrade, by reason.',
  );
  readonly socketsCut: Counter = new Counter(
    'rockpool_sockets_cut_total',
    'WebSockets cut without a failure message, by reason: silent, or the code of what broke their protocol.',
  );
  readonly messagesReceived: Counter = new Counter('rockpool_messages_received_total', 'Messages of clients, by type.');
  readonly receivedBytes: Counter = new Counter('rockpool_received_bytes_total', 'Bytes of frames of clients.');
  readonly sentBytes: Counter = new Counter('rockpool_sent_bytes_total', 'Bytes of messages to clients.');
  readonly pushDurations: Durations = new Durations(
    'rockpool_push_duration_seconds',
    'From the receipt of a push until all of it was durable or refused.',
  );
  readonly postgresCommitDurations: Durations = new Durations(
    'rockpool_postgres_commit_duration_seconds',
    'From the lock of a database to the end of its commit, where the store is PostgreSQL.',
  );
  readonly changesetsPushed: Counter = new Counter(
    'rockpool_changesets_pushed_total',
    'Changesets in pushes that were dealt with, sent again or not.',
  );
  readonly requests: Counter = new Counter(
    'rockpool_http_requests_total',
    'Requests over plain HTTP, by route and status.',
  );
  private readonly gauges: Metric[] = [];

  /** Measures the process, until what is returned is called. */
  watchProcess(): () => void {
    const loopDelay = monitorEventLoopDelay({ resolution: 20 });
    loopDelay.enable();
    this.gauge(
      'rockpool_event_loop_delay_p99_seconds',
      'How late the one thread runs what is due, since the last look.',
      () => {
        const seconds = loopDelay.percentile(99) / 1e9;
        loopDelay.reset();
        return seconds;
      },
    );
    this.gauge('rockpool_resident_memory_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
    return () => void loopDelay.disable();
  }

  gauge(name: string, help: string, read: () => number): void {
    this.gauges.push(new Gauge(name, help, read));
  }

  render(): string {
    const {
      sessionsOpened,
      sessionsFailed,
      socketsRefused,
      socketsCut,
      messagesReceived,
      receivedBytes,
      sentBytes,
      pushDurations,
      postgresCommitDurations,
      changesetsPushed,
      requests,
    } = this;
    return [
      sessionsOpened,
      sessionsFailed,
      socketsRefused,
      socketsCut,
      messagesReceived,
      receivedBytes,
      sentBytes,
      pushDurations,
      postgresCommitDurations,
      changesetsPushed,
      requests,
      ...this.gauges,
    ]
      .map((metric) => metric.render())
      .join('');
  }
}
