import { Module } from '@nestjs/common';
import { Clock, EventStore } from '#libs/domain/kernel';
import {
  CheckLedger,
  LedgerReader,
  SealFileHandler,
  SealKeyAdministration,
  StartExportHandler,
} from '#libs/domain/ledger';
import { BuildFacts, readBuildFacts } from '#libs/infra/runtime';
import { ListAnswers } from '../lists/list-answers.js';
import { AwaitDeed } from './await-deed.js';
import { ChangeDeeds } from './change-deeds.js';
import { CheckLedgerController } from './check-ledger.controller.js';
import { CoseForm } from './cose-form.js';
import { DeedExport } from './deed-export.js';
import { ExportDeedsController } from './export-deeds.controller.js';
import { FindDeedHandler } from './find-deed.query-handler.js';
import { FindActionDeedsHandler } from './find-action-deeds.query-handler.js';
import { GetDeedController } from './get-deed.controller.js';
import { ListDeedsController } from './list-deeds.controller.js';
import { ListDeedsHandler } from './list-deeds.query-handler.js';
import { SealFileController } from './seal-file.controller.js';
import { SealKeysController } from './seal-keys.controller.js';

@Module({
  controllers: [
    ListDeedsController,
    GetDeedController,
    ExportDeedsController,
    CheckLedgerController,
    SealFileController,
    SealKeysController,
  ],
  providers: [
    ListAnswers,
    ListDeedsHandler,
    FindDeedHandler,
    FindActionDeedsHandler,
    { provide: LedgerReader, inject: [EventStore], useFactory: (store: EventStore) => new LedgerReader(store) },
    DeedExport,
    AwaitDeed,
    SealFileHandler,
    StartExportHandler,
    {
      provide: CheckLedger,
      inject: [LedgerReader, SealKeyAdministration, Clock],
      useFactory: (ledger: LedgerReader, keys: SealKeyAdministration, clock: Clock) =>
        new CheckLedger(ledger, keys, clock),
    },
    CoseForm,
    ChangeDeeds,
    { provide: BuildFacts, useFactory: () => readBuildFacts() },
  ],
  exports: [ChangeDeeds, CheckLedger],
})
export class LedgerModule {}
