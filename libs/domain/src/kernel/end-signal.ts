/**
 * Whether work has lost its purpose, because whoever asked for it has gone or its time is over, and a notification when
 * that happens. Every `AbortSignal` is an `EndSignal`.
 */
export interface EndSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
