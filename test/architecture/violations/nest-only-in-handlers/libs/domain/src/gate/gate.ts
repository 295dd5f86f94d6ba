import { Injectable } from '@nestjs/common';

export const used = Injectable;
