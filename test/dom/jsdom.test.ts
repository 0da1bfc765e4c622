// @vitest-environment jsdom
import '../service/delivery/deliveries.test.ts';
import '../service/delivery/delivery-calls.test.ts';
import '../service/delivery/deliveries-signature.test.ts';
import '../service/operations/messages.test.ts';
