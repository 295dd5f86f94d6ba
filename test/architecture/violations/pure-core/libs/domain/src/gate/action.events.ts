import type { Observable } from 'rxjs';

export type Events = Observable<never>;
