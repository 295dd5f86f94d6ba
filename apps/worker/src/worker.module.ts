import { Module, type DynamicModule } from '@nestjs/common';
import { Worker } from './worker.js';

export { Worker } from './worker.js';

/** Executes, recovers and seals. */
@Module({})
export class WorkerModule {
  static forRoot(worker: Worker): DynamicModule {
    return { module: WorkerModule, providers: [{ provide: Worker, useValue: worker }], exports: [Worker] };
  }
}
