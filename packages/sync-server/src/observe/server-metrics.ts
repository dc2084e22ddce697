import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Histogram, Gauge, KeptCounter, LabelledGauge, type Metric } from './metric.ts';

/** The metrics of a server. Only `renderWithTenants` contains names: the tenants with the largest databases. */
export class ServerMetrics {
  readonly sessionsOpened: Counter = new Counter('rockpool_sessions_opened_total', 'Sessions with a valid hello.');
  readonly sessionsFailed: Counter = new Counter(
    'rockpool_sessions_failed_total',
    'Sessions that ended with a failure, by error code, including exceeded limits.',
  );
  readonly socketsRefused: Counter = new Counter(
    'rockpool_sockets_refused_total',
    'Connections refused before a session began, by reason.',
  );
  readonly socketsCut: Counter = new Counter(
    'rockpool_sockets_cut_total',
    'WebSockets closed without a failure message, by reason: silent, or the code of a protocol error.',
  );
  readonly quotaRefusals: Counter = new Counter(
    'rockpool_quota_refusals_total',
    'Pushes refused because a quota was reached or the disk was full, by quota.',
  );
  readonly messagesReceived: Counter = new Counter(
    'rockpool_messages_received_total',
    'Messages from clients, by type.',
  );
  readonly receivedBytes: Counter = new Counter('rockpool_received_bytes_total', 'Bytes of frames from clients.');
  readonly sentBytes: Counter = new Counter('rockpool_sent_bytes_total', 'Bytes of messages to clients.');
  readonly pushDurations: Histogram = new Histogram(
    'rockpool_push_duration_seconds',
    'Time from the receipt of a push until each of its changesets was durable or rejected.',
  );
  readonly postgresCommitDurations: Histogram = new Histogram(
    'rockpool_postgres_commit_duration_seconds',
    'Time from locking a database to the end of its commit, with PostgreSQL.',
  );
  readonly changesetsPushed: Counter = new Counter(
    'rockpool_changesets_pushed_total',
    'Changesets in processed pushes, including repeated ones.',
  );
  readonly keySetFailures: Counter = new Counter(
    'rockpool_key_set_failures_total',
    'Failed fetches of newer keys of the identity provider. Older keys are used for a day after their fetch.',
  );
  readonly requests: Counter = new Counter('rockpool_http_requests_total', 'HTTP requests, by route and status.');
  private readonly gauges: Metric[] = [];
  private readonly tenantGauges: Metric[] = [];

  /** Measures the process until the returned function is called. */
  watchProcess(): () => void {
    const loopDelay = monitorEventLoopDelay({ resolution: 20 });
    loopDelay.enable();
    this.gauge(
      'rockpool_event_loop_delay_p99_seconds',
      'Delay of the event loop since the last scrape, 99th percentile.',
      () => {
        const seconds = loopDelay.percentile(99) / 1e9;
        loopDelay.reset();
        return seconds;
      },
    );
    this.gauge('rockpool_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
    this.counter('rockpool_cpu_seconds_total', 'CPU time of all threads of the process, user and system.', () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    });
    return () => void loopDelay.disable();
  }

  gauge(name: string, help: string, read: () => number): void {
    this.gauges.push(new Gauge(name, help, read));
  }

  counter(name: string, help: string, read: () => number): void {
    this.gauges.push(new KeptCounter(name, help, read));
  }

  /** A gauge with a value for each set of labels. The labels contain no names of users or tenants. */
  gaugeOf(...gauge: ConstructorParameters<typeof LabelledGauge>): void {
    this.gauges.push(new LabelledGauge(...gauge));
  }

  /** A gauge whose labels name tenants. */
  tenantGauge(...gauge: ConstructorParameters<typeof LabelledGauge>): void {
    this.tenantGauges.push(new LabelledGauge(...gauge));
  }

  renderWithTenants(): string {
    return this.render() + this.tenantGauges.map((metric) => metric.render()).join('');
  }

  render(): string {
    const {
      sessionsOpened,
      sessionsFailed,
      socketsRefused,
      socketsCut,
      quotaRefusals,
      messagesReceived,
      receivedBytes,
      sentBytes,
      pushDurations,
      postgresCommitDurations,
      changesetsPushed,
      keySetFailures,
      requests,
    } = this;
    return [
      sessionsOpened,
      sessionsFailed,
      socketsRefused,
      socketsCut,
      quotaRefusals,
      messagesReceived,
      receivedBytes,
      sentBytes,
      pushDurations,
      postgresCommitDurations,
      changesetsPushed,
      keySetFailures,
      requests,
      ...this.gauges,
    ]
      .map((metric) => metric.render())
      .join('');
  }
}
