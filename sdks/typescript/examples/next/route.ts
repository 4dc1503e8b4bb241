// Receives deliveries with Next.js: app/hooks/route.ts. And pushes a task: the same file can do both.

import { Client, verify, WebhookError } from "punctual";

const SECRET = process.env.WEBHOOK_SECRET ?? "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export const runtime = "nodejs";

export async function POST(request: Request): Promise<Response> {
  const body = await request.text();
  try {
    const delivery = verify(body, request.headers, SECRET);
    // The delivery's id is the task's: a repeat of the delivery is no second task.
    await new Client().push("received", JSON.parse(body), { id: delivery, unique_for: "1d" });
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookError) return new Response(error.message, { status: 401 });
    throw error;
  }
}
