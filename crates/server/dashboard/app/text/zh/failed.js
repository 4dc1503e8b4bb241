// 失败任务页面的文字。
export default {
  "failed.clean": "清除",
  "failed.clean-title": "清除所有此错误的任务？",
  "failed.count": "任务数",
  "failed.error": "错误",
  "failed.example": "最近的任务",
  "failed.last": "最近失败",
  "failed.no-error": "（未给出错误）",
  "failed.none": "没有失败的任务。",
  "failed.retry": "重试",
  "failed.retry-title": "重试所有此错误的任务？",
  "failed.title": "失败",
};
