/** A metric in Prometheus' text format. Names end with their unit. */
export interface Metric {
  render(): string;
}

type Labels = Readonly<Record<string, string>>;

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

/**
 * NaN if the value cannot be read now, for example because the process has no free file descriptors. An exception would
 * lose all metrics, and end a process that serves them without a framework.
 */
function valueOf(read: () => number): number {
  try {
    return read();
  } catch {
    return Number.NaN;
  }
}

function head(name: string, type: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

/** Labels come from small fixed sets, such as codes and routes, never from client input. */
export class Counter implements Metric {
  private readonly counts = new Map<string, number>();
  private readonly name: string;
  private readonly help: string;

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(count: number = 1, labels: Labels = {}): void {
    const key = labelsText(labels);
    this.counts.set(key, (this.counts.get(key) ?? 0) + count);
  }

  render(): string {
    const counts = this.counts.size === 0 ? [['', 0] as const] : [...this.counts].sort(([a], [b]) => (a < b ? -1 : 1));
    return (
      head(this.name, 'counter', this.help) +
      counts.map(([labels, count]) => `${this.name}${labels} ${count}\n`).join('')
    );
  }
}

/** A gauge that reads its value when it is rendered. */
export class Gauge implements Metric {
  private readonly name: string;
  private readonly help: string;
  private readonly read: () => number;

  constructor(name: string, help: string, read: () => number) {
    this.name = name;
    this.help = help;
    this.read = read;
  }

  render(): string {
    return `${head(this.name, 'gauge', this.help)}${this.name} ${valueOf(this.read)}\n`;
  }
}

/** A counter that another part keeps, read when it is rendered. */
export class KeptCounter implements Metric {
  private readonly name: string;
  private readonly help: string;
  private readonly read: () => number;

  constructor(name: string, help: string, read: () => number) {
    this.name = name;
    this.help = help;
    this.read = read;
  }

  render(): string {
    return `${head(this.name, 'counter', this.help)}${this.name} ${valueOf(this.read)}\n`;
  }
}

/** A gauge with one value for each set of labels, read when it is rendered. */
export class LabelledGauge implements Metric {
  private readonly name: string;
  private readonly help: string;
  private readonly read: () => Iterable<readonly [labels: Labels, value: number]>;

  constructor(name: string, help: string, read: () => Iterable<readonly [labels: Labels, value: number]>) {
    this.name = name;
    this.help = help;
    this.read = read;
  }

  render(): string {
    const lines = [...this.read()].map(([labels, value]) => `${this.name}${labelsText(labels)} ${value}\n`);
    return head(this.name, 'gauge', this.help) + lines.join('');
  }
}

// The buckets range from a commit on a fast disk to the timeout of a client.
const BUCKETS_SECONDS: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** A histogram of durations. */
export class Histogram implements Metric {
  private readonly counts: number[] = BUCKETS_SECONDS.map(() => 0);
  private total = 0;
  private sumSeconds = 0;
  private readonly name: string;
  private readonly help: string;

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(durationMs: number): void {
    const seconds = durationMs / 1000;
    this.total++;
    this.sumSeconds += seconds;
    BUCKETS_SECONDS.forEach((bound, i) => {
      if (seconds <= bound) this.counts[i] = (this.counts[i] ?? 0) + 1;
    });
  }

  render(): string {
    const buckets = BUCKETS_SECONDS.map(
      (bound, i) => `${this.name}_bucket{le="${bound}"} ${this.counts[i] ?? 0}\n`,
    ).join('');
    return `${head(this.name, 'histogram', this.help)}${buckets}${this.name}_bucket{le="+Inf"} ${this.total}\n${this.name}_sum ${this.sumSeconds}\n${this.name}_count ${this.total}\n`;
  }
}
