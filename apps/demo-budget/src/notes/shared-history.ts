import History from 'quill/modules/history.js';
import type { LiveDocument } from '@rockpool/client';

type UndoManager = LiveDocument['undoManager'];

/**
 * Undo and redo for an editor with several authors: uses the document's history, which reverts only what was typed
 * here.
 */
export class SharedHistory extends History {
  private get undoManager(): UndoManager {
    return (this.options as unknown as { readonly undoManager: UndoManager }).undoManager;
  }

  override undo(): void {
    this.undoManager.undo();
  }

  override redo(): void {
    this.undoManager.redo();
  }

  /** The next edit starts a new undo step. */
  override cutoff(): void {
    this.undoManager.stopCapturing();
  }

  // Does nothing, because the document keeps the history.
  override record(): void {}

  override transform(): void {}
}
