"""The words of the report, in Chinese and English."""

from __future__ import annotations

from typing import Literal

from schemas.errors import UsageError

Language = Literal["zh", "en"]

LABELS: dict[str, tuple[str, str]] = {
    "title": ("大模型闭卷考试排行榜", "LLM exam leaderboard"),
    "leaderboard": ("排行榜", "Leaderboard"),
    "heatmap": ("各学科得分", "Scores by discipline"),
    "trend": ("逐月变化", "Month by month"),
    "release": ("得分与发布日期", "Score against release date"),
    "styles": ("提示方式的影响", "Prompt styles"),
    "behind": ("数据依据", "What stands behind the numbers"),
    "costs": ("费用", "Cost"),
    "month": ("月份", "Month"),
    "style": ("提示方式", "Prompt style"),
    "weights": ("权重", "Weights"),
    "all": ("全部", "All"),
    "open": ("开放权重", "Open"),
    "closed": ("闭源", "Closed"),
    "rank": ("名次", "Rank"),
    "model": ("模型", "Candidate"),
    "organisation": ("机构", "Organisation"),
    "score": ("绝对分 S", "S"),
    "score_sd": ("标准差", "sd"),
    "relative_score": ("相对分 R", "R"),
    "pair_count": ("R 的题次", "pairs of R"),
    "repeat_count": ("重复", "Repeats"),
    "question_count": ("题次 N", "N"),
    "unparsed_count": ("未解析", "Unparsed"),
    "judge": ("裁判模型", "Judge"),
    "reference_model": ("参照模型", "Reference"),
    "bank_version": ("题库版本", "Bank version"),
    "run_id": ("考试批次", "Run"),
    "state": ("状态", "State"),
    "style_mean": ("均值", "Mean"),
    "style_variance": ("总体方差", "Population variance"),
    "zero_shot": ("零样本", "Zero-shot"),
    "few_shot": ("少样本", "Few-shot"),
    "chain_of_thought": ("思维链", "Chain of thought"),
    "release_date": ("发布日期", "Release date"),
    "discipline": ("学科", "Discipline"),
    "discipline_score": ("得分（0–10）", "Score (0–10)"),
    "purpose": ("用途", "Purpose"),
    "call_count": ("调用次数", "Calls"),
    "token_count": ("词元（入 / 出）", "Tokens (in / out)"),
    "cost_usd": ("费用（美元）", "Cost (USD)"),
    "simulated": ("模拟数据", "SIMULATED"),
    "simulated_about": (
        "参加者或裁判是模拟程序，分数不说明任何真实模型的能力。",
        "Candidates or judges were simulated: these scores say nothing about any real model.",
    ),
    "provisional": ("暂定结果", "PROVISIONAL"),
    "provisional_about": (
        "裁判模型尚未经过人工评分校准，名次可能改变。",
        "The judge has not been calibrated against people yet: the order may change.",
    ),
    "published": ("正式", "Published"),
    "reference_mark": ("参照", "reference"),
    "empty": (
        "还没有评分完整的考试场次。评完一轮之后再生成报告。",
        "No session has been judged completely yet. Judge a run, then render the report again.",
    ),
    "sort_hint": ("点击表头排序", "Click a heading to sort"),
    "about_s": (
        "S：每题 0–3 星，总星数除以 3N 再乘 100；各次重复取平均，±为样本标准差。未解析的评判不计分也不计入分母，并列出数目。",
        "S: 0 to 3 stars per question, their sum over 3N, times 100; mean of the repeats, ± sample standard deviation. "
        "Unparsed judgements are left out, and counted.",
    ),
    "about_r": (
        "R：同一批题目、同一提示方式下，与参照模型总星数之比乘 100。",
        "R: stars over those of the reference on the same questions under the same prompt style, times 100.",
    ),
    "about_disciplines": (
        "学科分为 0–10 分制；十个学科题量相同时，其和等于 S。",
        "Disciplines are scored 0 to 10; in equal shares the ten add up to S.",
    ),
    "heatmap_about": (
        "每格为该模型在该学科的得分（0–10），按名次排列。",
        "Each cell is a candidate's score (0 to 10) in a discipline, in order of rank.",
    ),
    "trend_about": (
        "各模型每月的零样本 S；没有考试的月份没有点。",
        "Zero-shot S of each candidate by month; a month without a session has no point.",
    ),
    "release_about": (
        "各模型最近一次的零样本 S 与发布日期；曲线为拟合结果。",
        "Each candidate's latest zero-shot S by release date, with the fitted curve.",
    ),
    "curve_linear": ("直线", "straight line"),
    "curve_logistic": ("逻辑斯谛曲线", "logistic curve"),
    "shown_best": ("图中为最近一月的前 {count} 名", "Shown: the first {count} of the latest month"),
    "prompt_version": ("提示词版本", "Prompt"),
    "occasion": ("校准场合", "Occasion"),
    "calibration": ("裁判与人工评分的一致性", "Judges against people"),
    "round": ("轮次", "Round"),
    "mean_kappa": ("平均 κ（不加权）", "Mean κ (unweighted)"),
    "candidate_count": ("模型数", "Candidates"),
    "external": ("与其他评测的相关性", "Agreement with other benchmarks"),
    "benchmark": ("评测", "Benchmark"),
    "spearman_rho": ("Spearman ρ", "Spearman ρ"),
    "p_value": ("p 值", "p"),
    "generated": ("生成时间", "Generated"),
    "download": ("下载数据（CSV）", "Download the data (CSV)"),
    "candidates": ("个参评模型", "candidates"),
    "table_view": ("数据表", "Data"),
    "gscore_title": ("文本生成评测（Gscore）", "Generated text (Gscore)"),
    "gscore_profile": ("口径", "Profile"),
    "similarity_model": ("语义相似度模型", "Similarity model"),
    "gscore_unscored": (
        "{count} 条作答没有 Gscore（缺少语义相似度模型，或尚未作答），不计入均值。",
        "{count} answers have no Gscore (no similarity model, or not answered yet); they are in no mean.",
    ),
    "bleu4": ("BLEU-4", "BLEU-4"),
    "rouge2": ("ROUGE-2", "ROUGE-2"),
    "chrf": ("chrF", "chrF"),
    "similarity": ("语义相似度", "Similarity"),
    "accuracy": ("计算题正确率", "Accuracy"),
    "accuracy_unordered": ("不计次序", "any order"),
    "accuracy_symbolic": ("数值相等", "equal value"),
    "step_chrf": ("步骤 chrF", "Steps' chrF"),
    "item_count": ("题数", "Items"),
    "unscored_count": ("无 Gscore", "Without Gscore"),
    "category": ("科目类别", "Category"),
    "subject": ("子科目", "Subject"),
    "by_subject": ("各子科目", "By subject"),
    "by_kind": ("各题型", "By kind of item"),
    "item_kind": ("题型", "Kind"),
    "kind_definition": ("名词解释", "definition"),
    "kind_short_answer": ("简答题", "short answer"),
    "kind_calculation": ("计算求解", "calculation"),
    "kind_arithmetic": ("小学计算", "arithmetic"),
    "human_agreement": ("与人工评分的一致性", "Agreement with people"),
    "metric": ("指标", "Metric"),
    "about_gscore": (
        "Gscore = 0.2·BLEU-4 + 0.25·ROUGE-2 + 0.25·chrF + 0.3·语义相似度，各项乘以 100；计算题看最终答案，答错时步骤最多得 30 分。"
        "口径或相似度模型不同的分数不可比较。",
        "Gscore = 0.2 BLEU-4 + 0.25 ROUGE-2 + 0.25 chrF + 0.3 similarity, each times 100; calculations are scored by their "
        "final answer, a wrong one gets up to 30 for its steps. Scores of another profile or similarity model cannot be compared.",
    ),
    "about_gscore_overall": (
        "总分为各科目类别的不加权平均；有一个类别没有 Gscore 时不给总分。",
        "The overall score is the unweighted mean of the categories; where one has no Gscore there is none.",
    ),
    "Philosophy": ("哲学", "Philosophy"),
    "Economics": ("经济学", "Economics"),
    "Law": ("法学", "Law"),
    "Education": ("教育学", "Education"),
    "Literature": ("文学", "Literature"),
    "History": ("历史学", "History"),
    "Science": ("理学", "Science"),
    "Engineering": ("工学", "Engineering"),
    "Agronomy": ("农学", "Agronomy"),
    "Medicine": ("医学", "Medicine"),
    "Military Science": ("军事学", "Military Sci."),
    "Management": ("管理学", "Management"),
    "Arts": ("艺术学", "Arts"),
}


# Column heads of the leaderboard, where ten whole names would not fit.
SHORT_DISCIPLINES: dict[str, tuple[str, str]] = {
    "Economics": ("经济", "Econ."),
    "Law": ("法学", "Law"),
    "Education": ("教育", "Edu."),
    "Literature": ("文学", "Lit."),
    "History": ("历史", "Hist."),
    "Science": ("理学", "Sci."),
    "Engineering": ("工学", "Eng."),
    "Medicine": ("医学", "Med."),
    "Military Science": ("军事", "Mil."),
    "Management": ("管理", "Mgmt."),
}


def label(key: str, language: Language) -> str:
    """The word for `key`; raises UsageError for a language that the report does not speak."""
    if language not in ("zh", "en"):
        raise UsageError(f"The report speaks zh and en, not {language!r}.")
    zh, en = LABELS[key]
    return zh if language == "zh" else en
