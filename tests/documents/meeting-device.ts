import { decodeChangesetBody, encodeMessage, type Push, type RockpoolError, type Schema } from '#shared/index.ts';
import { isDocumentEdit } from '#shared/document/index.ts';
import type { LiveDatabase } from '#sync-server/database/live-database.ts';
import { untilCommitted } from '#sync-server/testing/direct-session.ts';
import { DirectDevice } from '#kit/direct-device.ts';

/** A direct device that syncs with its server only on request, and measures the messages. */
export class MeetingDevice extends DirectDevice {
  /** A test may replace it. */
  server: LiveDatabase;
  sentBytes = 0;
  receivedBytes = 0;
  /** Every edit of a document in the sent messages. */
  readonly sentEdits: Uint8Array[] = [];
  private failure: RockpoolError | null = null;

  constructor(server: LiveDatabase, schema: Schema, siteId: Uint8Array) {
    let sites = 0;
    // Counts up, so that the same device gets a new site id each time.
    super(
      schema,
      () => 1_700_000_000_000,
      () => siteId.with(0, (siteId[0] ?? 0) + 100 * sites++),
    );
    this.server = server;
  }

  /** Connects, receives everything, sends everything unless `sends` is false, and disconnects. */
  async meet({ sends = true }: { readonly sends?: boolean } = {}): Promise<void> {
    this.failure = null;
    // Read before the welcome: a lost log is sent again by a later meeting, or under a new site.
    const { lastAckedSequence } = this.sync.position();
    const push = (after = lastAckedSequence): Push | null => this.push(after, 256 * 1024);
    this.connect(this.server);
    await this.joined;
    this.takeAll();
    for (let sent = sends ? push() : null; sent !== null; sent = push(sent.changesets.at(-1)?.sequence)) {
      this.sentEdits.push(...editsOf(sent));
      this.sentBytes += encodeMessage(sent).length;
    }
    await untilCommitted();
    this.takeAll();
    this.cut();
    if (this.failure !== null) throw this.failure as RockpoolError;
  }

  override send(bytes: Uint8Array): void {
    this.receivedBytes += bytes.length;
    super.send(bytes);
  }

  /** Reported at the end of the meeting. */
  override fail(error: RockpoolError): void {
    this.failure = error;
  }

  protected override refused(refusal: RockpoolError): void {
    this.failure = refusal;
  }

  /** Tests continue with any welcome, also that of a restored server. */
  protected override greeted(): void {}

  protected override get principal(): string {
    return this.site;
  }
}

function editsOf({ changesets }: Push): Uint8Array[] {
  return changesets
    .flatMap(({ body }) => decodeChangesetBody(body).groups)
    .flatMap(({ values }) => values.flat())
    .filter((value) => isDocumentEdit(value)) as Uint8Array[];
}
