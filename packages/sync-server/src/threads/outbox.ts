/**
 * Collects messages and posts them together when the current callback ends, because each post has a fixed cost. The
 * order does not change.
 */
export class Outbox<Message> {
  private readonly post: (messages: readonly Message[]) => void;
  private waiting: Message[] = [];

  constructor(post: (messages: readonly Message[]) => void) {
    this.post = post;
  }

  /** The message that was added last and is not posted yet. */
  get last(): Message | undefined {
    return this.waiting.at(-1);
  }

  add(message: Message): void {
    if (this.waiting.push(message) === 1) queueMicrotask(() => this.flush());
  }

  flush(): void {
    if (this.waiting.length > 0) this.post(this.waiting.splice(0));
  }
}
