/**
 * From now on each broadcast of this worker is lost, doubled or delayed (and so reordered), with a probability of a
 * third each.
 */
export function disturbBroadcasts(random: () => number): void {
  const post = BroadcastChannel.prototype.postMessage;
  BroadcastChannel.prototype.postMessage = function (this: BroadcastChannel, message: unknown) {
    const fate = random();
    if (fate < 1 / 3) return;
    if (fate < 2 / 3) {
      post.call(this, message);
      post.call(this, message);
      return;
    }
    // The channel may be closed by now.
    const late = new BroadcastChannel(this.name);
    setTimeout(() => {
      post.call(late, message);
      late.close();
    }, 50 * random());
  };
}
